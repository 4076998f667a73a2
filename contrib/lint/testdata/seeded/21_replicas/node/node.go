// Package node has what the programs of a mail service share.
package node

import "github.com/seed-299c1d6b/snowkey/core"

// Worker is the worker ID.
const Worker = 7

// New makes a generator for a program of the service.
func New() (*core.Generator, error) { return core.New(core.Config{Worker: core.Fixed(Worker)}) } // ALSO 069: one of the two
