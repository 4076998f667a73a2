package memstore_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// at is when the examples are: no time passes in them.
var at = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// begin makes a store for an example.
func begin() (*memstore.Store, func()) {
	return memstore.New(memstore.Config{Now: func() time.Time { return at }}), func() {}
}

// request asks for any worker ID of the namespace "orders", as a lease does.
func request(token string) driver.Request {
	return driver.Request{
		Namespace: "orders", Layout: "the fingerprint", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: token, Owner: "web-1",
		Now: at.UnixMilli(), FenceWindow: 30_000, TTL: 40_000, MaxSkew: 10_000, MaxLead: 60_000,
	}
}

func ExampleStore_Claim() {
	store, end := begin()
	defer end()
	first, err := store.Claim(context.Background(), request("t1"))
	fmt.Println(first.Worker, first.FencingToken, first.Fence-first.From, err)
	again, err := store.Claim(context.Background(), request("t1")) // its answer was lost
	fmt.Println(again == first, err)
	second, err := store.Claim(context.Background(), request("t2"))
	fmt.Println(second.Worker, err)
	// Output:
	// 0 1 30000 <nil>
	// true <nil>
	// 1 <nil>
}

func ExampleStore_Renew() {
	store, end := begin()
	defer end()
	c, err := store.Claim(context.Background(), request("t1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := driver.Renewal{Namespace: "orders", Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: "t1", Fence: c.Fence + 10_000, TTL: 40_000}
	fmt.Println(store.Renew(context.Background(), r))
	r.ClaimID = "another's"
	fmt.Println(errors.Is(store.Renew(context.Background(), r), driver.ErrNotHeld))
	// Output:
	// <nil>
	// true
}

func ExampleStore_Release() {
	store, end := begin()
	defer end()
	c, err := store.Claim(context.Background(), request("t1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := driver.Return{Namespace: "orders", Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: "t1", Fence: c.From + 7000} // where its ids have ended
	fmt.Println(store.Release(context.Background(), r))
	again := request("t2")
	again.Preferred = c.Worker
	next, err := store.Claim(context.Background(), again)
	fmt.Println(next.Worker, next.FencingToken, next.From-c.From, err)
	// Output:
	// <nil>
	// 0 2 7000 <nil>
}

func ExampleStore_List() {
	store, end := begin()
	defer end()
	gen, err := worker.Open(context.Background(), store, worker.Config{Namespace: "orders", Owner: "web-1", Now: func() time.Time { return at }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close(context.Background())
	rows, err := store.List(context.Background(), "orders")
	for _, row := range rows {
		fmt.Println(row.Worker, row.Owner, row.Free(at.UnixMilli()))
	}
	fmt.Println(err)
	// Output:
	// 0 web-1 false
	// <nil>
}

func ExampleStore_Free() {
	store, end := begin()
	defer end()
	c, err := store.Claim(context.Background(), request("t1")) // its holder has crashed, say
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Free(context.Background(), "orders", c.Worker, c.FencingToken))
	fmt.Println(errors.Is(store.Free(context.Background(), "orders", c.Worker, c.FencingToken), driver.ErrNotHeld)) // it is free
	// Output:
	// <nil>
	// true
}
