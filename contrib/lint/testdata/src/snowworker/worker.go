// Package snowworker has one worker ID in two generators.
package snowworker

import (
	"fixtures/src/snowworker/node"

	"github.com/seed-299c1d6b/snowkey/core"
)

const id = 1

func two() (a, b *core.Generator, err error) {
	if a, err = core.New(core.Config{Worker: core.Fixed(1)}); err != nil {
		return nil, nil, err
	}
	if b, err = core.New(core.Config{Worker: core.Fixed(id)}); err != nil { // want `another generator of this package has the worker ID 1, in line 13`
		return nil, nil, err
	}
	return a, b, nil
}

func helper(worker int64) (*core.Generator, error) {
	return core.New(core.Config{Worker: core.Fixed(worker)})
}

func helped() {
	_, _ = helper(4)
	_, _ = helper(4) // want `another generator of this package has the worker ID 4`
	_, _ = helper(5)
}

func loop(n int) (all []*core.Generator, err error) {
	for range n {
		gen, err := core.New(core.Config{Worker: core.Fixed(9)}) // want `each iteration makes a generator with the worker ID 9`
		if err != nil {
			return nil, err
		}
		all = append(all, gen)
	}
	return all, nil
}

func imported() (*core.Generator, error) {
	return core.New(core.Config{Worker: core.Fixed(node.Worker)}) // want `package node makes a generator with the worker ID node.Worker as well`
}

// None of these is a fault.

func spare() (*core.Generator, error) {
	return core.New(core.Config{Worker: core.Fixed(node.Spare)})
}

func layouts() (*core.Generator, error) {
	return core.New(core.Config{Layout: core.Discord(), Worker: core.Fixed(1)}) // other ids
}

func either(test bool) (*core.Generator, error) {
	if test {
		return core.New(core.Config{Worker: core.Fixed(20)})
	}
	return core.New(core.Config{Worker: core.Fixed(20)})
}
