package worker_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// acquire is short for a lease with which the examples begin.
func acquire(cfg worker.Config) *worker.Lease {
	lease, err := worker.Acquire(context.Background(), memstore.New(memstore.Config{}), cfg)
	if err != nil {
		panic(err)
	}
	return lease
}

// A lease serves one generator after the other, each above the one before.
func ExampleLease_Grant() {
	lease := acquire(worker.Config{})
	defer lease.Close()
	gen, err := core.New(core.Config{Worker: lease}) // calls Grant
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _ := gen.Next(context.Background())
	_, err = core.New(core.Config{Worker: lease})
	fmt.Println(errors.Is(err, core.ErrInUse)) // one at a time
	fmt.Println(gen.Close())
	gen, err = core.New(core.Config{Worker: lease})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	second, err := gen.Next(context.Background())
	fmt.Println(second > first, err)
	// Output:
	// true
	// <nil>
	// true <nil>
}

func ExampleLease_Close() {
	store := memstore.New(memstore.Config{})
	for range 2 { // the second finds the worker ID free
		lease, err := worker.Acquire(context.Background(), store, worker.Config{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(lease.Worker(), lease.Close())
	}
	// Output:
	// 0 <nil>
	// 0 <nil>
}

func ExampleLease_Done() {
	lease := acquire(worker.Config{StopOnLoss: true})
	go lease.Close()
	<-lease.Done() // in earnest: beside what the program does, to end it in time
	fmt.Println(lease.Err())
	// Output: worker: the lease was released; acquire another one
}

func ExampleLease_Err() {
	lease := acquire(worker.Config{})
	fmt.Println(lease.Err())
	_ = lease.Close()
	fmt.Println(errors.Is(lease.Err(), worker.ErrReleased), errors.Is(lease.Err(), worker.ErrLost))
	// Output:
	// <nil>
	// true false
}

func ExampleLease_Layout() {
	lease := acquire(worker.Config{}) // a zero Layout: Twitter's
	defer lease.Close()
	fmt.Println(lease.Layout() == core.Twitter())
	// Output: true
}

func ExampleLease_Stats() {
	lease := acquire(worker.Config{Namespace: "orders"})
	defer lease.Close()
	st := lease.Stats()
	fmt.Println(st.Namespace, st.Worker, st.FencingToken, st.Claims, st.Left > 0, st.Failing)
	// Output: orders 0 1 1 true <nil>
}

func ExampleLease_Worker() {
	id := int64(3<<5 | 17) // datacenter 3, worker 17
	lease := acquire(worker.Config{Preferred: &id})
	defer lease.Close()
	fmt.Println(lease.Worker()>>5, lease.Worker()&31)
	// Output: 3 17
}
