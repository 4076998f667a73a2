// Package numbers makes the generators of a warehouse.
package numbers

import (
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

// workerID of this process.
const workerID = 12

// Generators are those of the process.
type Generators struct {
	Orders, Invoices, Returns, Pallets *core.Generator
}

// New makes all generators. Close them by Close.
func New() (g *Generators, err error) {
	g = &Generators{}
	defer func() {
		if err != nil {
			g.Close()
		}
	}()
	if g.Orders, err = core.New(core.Config{Worker: core.Fixed(1)}); err != nil { // ALSO 064: the first of the two
		return g, fmt.Errorf("orders: %w", err)
	}
	if g.Invoices, err = core.New(core.Config{Worker: core.Fixed(1)}); err != nil { // FAULT 064 class 8: worker ID 1 twice in one function
		return g, fmt.Errorf("invoices: %w", err)
	}
	if g.Returns, err = core.New(core.Config{Worker: core.Fixed(workerID)}); err != nil { // ALSO 065: the first of the two
		return g, fmt.Errorf("returns: %w", err)
	}
	if g.Pallets, err = pallets(); err != nil {
		return g, fmt.Errorf("pallets: %w", err)
	}
	return g, nil
}

// Close ends the generators.
func (g *Generators) Close() {
	for _, gen := range []*core.Generator{g.Orders, g.Invoices, g.Returns, g.Pallets} {
		if gen != nil {
			gen.Close()
		}
	}
}

// ForStage returns the only generator of a small deployment.
func ForStage(stage string) (*core.Generator, error) {
	switch stage {
	case "test":
		return core.New(core.Config{Worker: core.Fixed(20)})
	case "demo":
		return core.New(core.Config{Worker: core.Fixed(20), Layout: core.JavaScriptSafe()}) // OK 52: only one of the branches runs
	}
	return nil, errors.New("numbers: no stage " + stage)
}
