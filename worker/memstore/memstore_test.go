package memstore_test

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

func TestStore(t *testing.T) {
	store := memstore.New(memstore.Config{})
	storetest.Run(t, storetest.Config{Open: func(*testing.T) driver.Store { return store }, Put: func(_ *testing.T, s driver.State) { store.Put(s) }})
}
