package storetest

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func TestMemory(t *testing.T) {
	store := memstore.New(memstore.Config{})
	Run(t, Config{Open: func(*testing.T) driver.Store { return store }, Put: func(_ *testing.T, s driver.State) { store.Put(s) }})
}
