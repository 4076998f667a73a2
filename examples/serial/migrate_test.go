package main

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/examples/internal/oldtables"
)

func TestOldTables(t *testing.T) { oldtables.Test(t, "", &Payment{}, &Invoice{}) }
