package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// open is short for the generator with which the examples begin.
func open(cfg worker.Config) *worker.Generator {
	gen, err := worker.Open(context.Background(), memstore.New(memstore.Config{}), cfg)
	if err != nil {
		panic(err)
	}
	return gen
}

func ExampleGenerator_Next() {
	gen := open(worker.Config{})
	defer gen.Close(context.Background())
	first, _ := gen.Next(context.Background())
	second, err := gen.Next(context.Background())
	fmt.Println(first < second, err)
	// Output: true <nil>
}

func ExampleGenerator_Fill() {
	gen := open(worker.Config{})
	defer gen.Close(context.Background())
	ids := make([]int64, 1000)
	err := gen.Fill(context.Background(), ids)
	fmt.Println(ids[0] < ids[999], err)
	// Output: true <nil>
}

// The worker ID is free at once.
func ExampleGenerator_Close() {
	ctx, id := context.Background(), int64(7)
	store := memstore.New(memstore.Config{})
	for range 2 {
		gen, err := worker.Open(ctx, store, worker.Config{Preferred: &id, RequirePreferred: true})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(gen.Worker(), gen.Close(ctx))
		_, err = gen.Next(ctx)
		fmt.Println(errors.Is(err, core.ErrClosed))
	}
	// Output:
	// 7 <nil>
	// true
	// 7 <nil>
	// true
}

// A program that must end when its worker ID is lost observes that, and closes the generator.
func ExampleGenerator_Close_afterALoss() {
	ctx, cancel := context.WithCancelCause(context.Background())
	store := memstore.New(memstore.Config{})
	gen, err := worker.Open(ctx, store, worker.Config{
		RenewInterval: 10 * time.Millisecond,
		Observer: observerFunc(func(e core.Event) {
			if e.Kind == worker.Lost || e.Kind == worker.Forgotten {
				cancel(fmt.Errorf("worker ID %d is %s", e.Worker, e.Kind))
			}
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	st := gen.Stats()
	_ = store.Free(ctx, st.Namespace, st.Worker, st.FencingToken) // an operator does this
	<-ctx.Done()
	fmt.Println(context.Cause(ctx), gen.Close(context.Background()))
	// Output: worker ID 0 is lost <nil>
}

// A health check asks for Failing, and for how long ids can continue.
func ExampleGenerator_Failing() {
	gen := open(worker.Config{})
	defer gen.Close(context.Background())
	fmt.Println(gen.Failing(), gen.Stats().FenceLeft > 0)
	// Output: <nil> true
}

func ExampleGenerator_Layout() {
	gen := open(worker.Config{}) // a zero Layout: Twitter's
	defer gen.Close(context.Background())
	fmt.Println(gen.Layout() == core.Twitter())
	// Output: true
}

func ExampleGenerator_Stats() {
	gen := open(worker.Config{Namespace: "orders"})
	defer gen.Close(context.Background())
	_ = gen.Fill(context.Background(), make([]int64, 5))
	st := gen.Stats()
	fmt.Println(st.Namespace, st.Worker, st.FencingToken > 0, st.Claims, st.Issued, st.FenceLeft > 0, st.Failing)
	// Output: orders 0 true 1 5 true <nil>
}

func ExampleGenerator_Metrics() {
	gen := open(worker.Config{Namespace: "orders"})
	defer gen.Close(context.Background())
	for _, m := range gen.Metrics() {
		if m.Counter && strings.HasPrefix(m.Name, "snowkey.lease.") {
			fmt.Println(m.Name, m.Value, m.Unit, m.Labels)
		}
	}
	// Output:
	// snowkey.lease.claims 1 {claim} map[snowkey.namespace:orders]
	// snowkey.lease.renewals 0 {renewal} map[snowkey.namespace:orders]
	// snowkey.lease.losses 0 {loss} map[snowkey.namespace:orders]
	// snowkey.lease.forgotten 0 {loss} map[snowkey.namespace:orders]
	// snowkey.lease.failures 0 {request} map[snowkey.namespace:orders]
}

func ExampleGenerator_Worker() {
	id := int64(3<<5 | 17) // datacenter 3, worker 17
	gen := open(worker.Config{Preferred: &id})
	defer gen.Close(context.Background())
	fmt.Println(gen.Worker()>>5, gen.Worker()&31)
	// Output: 3 17
}
