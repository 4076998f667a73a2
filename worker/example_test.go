package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func ExampleOpen() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{}) // a program has a database, and calls sqlstore.Open
	gen, err := worker.Open(ctx, store, worker.Config{Namespace: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close(context.Background())
	a, _ := gen.Next(ctx)
	b, _ := gen.Next(ctx)
	fmt.Println(gen.Worker(), a < b)
	// Output: 0 true
}

func ExampleFromEnv() {
	_ = os.Setenv("DATACENTER", "2")
	_ = os.Setenv("WORKER", "40")
	_, err := worker.FromEnv(core.Layout{}, "WORKER", "DATACENTER")
	fmt.Println(err)
	_ = os.Setenv("WORKER", "7")
	n, err := worker.FromEnv(core.Layout{}, "WORKER", "DATACENTER")
	fmt.Println(n, err)
	// Output:
	// worker: variable WORKER "40": must be 0 to 31 in this layout
	// 71 <nil>
}

func ExampleFromFile() {
	_, err := worker.FromFile(core.Layout{}, "", "")
	fmt.Println(err)
	// Output: worker: worker "": must be the name of a file
}

func ExampleFromPodIP() {
	_, err := worker.FromPodIP(core.Layout{}, "10.0.0.0/16")
	fmt.Println(err)
	// Output: worker: prefix "10.0.0.0/16": leaves 16 bits for addresses, and the layout has only 10 for datacenter and worker: two addresses would have one worker ID
}

// starts is a counter; in earnest sqlstore's or redisstore's.
type starts struct{ n int64 }

func (s *starts) Reserve(_ context.Context, _ string, n int64) (int64, error) {
	s.n += n
	return s.n - n + 1, nil
}

func ExampleFromCounter() {
	layout := core.Layout{TimeBits: 41, WorkerBits: 1, SequenceBits: 12}
	counter := &starts{}
	for range 3 {
		n, left, err := worker.FromCounter(context.Background(), counter, layout, "starts")
		var used *worker.CounterExhaustedError
		if errors.As(err, &used) {
			fmt.Println("used up after", used.WorkerIDs)
			return
		}
		fmt.Println(n, "and", left, "left")
	}
	// Output:
	// 0 and 1 left
	// 1 and 0 left
	// used up after 2
}
