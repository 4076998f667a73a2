package storetest

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func TestMemory(t *testing.T) {
	var m Memory
	Run(t, Config{Open: func(*testing.T) driver.Store { return &m }, Put: m.Put})
}
