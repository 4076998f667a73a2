// Package checkout turns carts into orders.
package checkout

import (
	"context"
	"log"
	"sync"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// NextID returns the id of the next order.
func NextID(ctx context.Context, workerID int64) (int64, error) {
	gen, err := core.New(core.Config{Worker: core.Fixed(workerID)}) // FAULT 058 snowscope: a generator for each id: all begin with the sequence 0 of a tick; bwmarrin/snowflake#39
	if err != nil {
		return 0, err
	}
	defer gen.Close()
	return gen.Next(ctx)
}

var (
	once   sync.Once
	shared *core.Generator
)

// Shared returns the generator of the process.
func Shared(workerID int64) *core.Generator {
	once.Do(func() {
		var err error
		shared, err = core.New(core.Config{Worker: core.Fixed(workerID)}) // OK 48: once per process
		if err != nil {
			log.Fatal(err)
		}
	})
	return shared
}

// CloseShared ends the generator of the process.
func CloseShared() {
	if shared != nil {
		shared.Close()
	}
}

// idFunc returns a function that makes ids.
func idFunc(workerID int64) func(context.Context) (sqltype.ID, error) {
	return func(ctx context.Context) (sqltype.ID, error) {
		gen, err := core.New(core.Config{Worker: core.Fixed(workerID), Sequence: core.SequenceRandom}) // FAULT 059 snowscope: the function that is returned makes a generator at each call; bwmarrin/snowflake#68
		if err != nil {
			return 0, err
		}
		defer gen.Close()
		return sqltype.NextID(ctx, gen)
	}
}
