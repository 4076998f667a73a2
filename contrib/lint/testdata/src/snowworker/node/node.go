// Package node makes a generator with a constant that it exports.
package node

import "github.com/seed-299c1d6b/snowkey/core"

// Worker is the worker ID.
const Worker = 7

// Spare is another one.
const Spare = 8

// New makes the generator.
func New() (*core.Generator, error) { return core.New(core.Config{Worker: core.Fixed(Worker)}) }
