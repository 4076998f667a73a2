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

// claim asks for any worker ID of the namespace "orders", as a lease does.
func claim(claimID string) driver.Claim {
	return driver.Claim{
		Namespace: "orders", Layout: "the fingerprint", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: claimID, Owner: "web-1",
		Now: at.UnixMilli(), FenceWindow: 30_000, MaxSkew: 10_000,
	}
}

func ExampleStore_Claim() {
	store, end := begin()
	defer end()
	first, err := store.Claim(context.Background(), claim("t1"))
	fmt.Println(first.Worker, first.Start-at.UnixMilli(), first.Fence-first.Start, err)
	again, err := store.Claim(context.Background(), claim("t1")) // its answer was lost
	fmt.Println(again == first, err)
	second, err := store.Claim(context.Background(), claim("t2"))
	fmt.Println(second.Worker, err)
	// Output:
	// 0 0 30000 <nil>
	// true <nil>
	// 1 <nil>
}

func ExampleStore_Renew() {
	now := at
	store := memstore.New(memstore.Config{Now: func() time.Time { return now }})
	l, err := store.Claim(context.Background(), claim("t1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	now = now.Add(10 * time.Second)
	r := driver.Renewal{Namespace: "orders", Worker: l.Worker, ClaimID: "t1", FencingToken: l.FencingToken, FenceWindow: 30_000}
	renewed, err := store.Renew(context.Background(), r)
	fmt.Println(renewed.Fence-l.Fence, err)
	r.ClaimID = "another's"
	_, err = store.Renew(context.Background(), r)
	fmt.Println(errors.Is(err, driver.ErrNotHeld))
	// Output:
	// 10000 <nil>
	// true
}

func ExampleStore_Release() {
	store, end := begin()
	defer end()
	l, err := store.Claim(context.Background(), claim("t1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := driver.Release{Namespace: "orders", Worker: l.Worker, ClaimID: "t1", FencingToken: l.FencingToken, Unused: l.Start + 7000} // where its ids have ended
	fmt.Println(store.Release(context.Background(), r))
	again := claim("t2")
	again.Preferred = l.Worker
	next, err := store.Claim(context.Background(), again)
	fmt.Println(next.Worker, next.FencingToken > l.FencingToken, next.Start-l.Start, err)
	// Output:
	// <nil>
	// 0 true 7000 <nil>
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
	st, err := store.List(context.Background(), "orders")
	for _, rec := range st.Records {
		fmt.Println(rec.Worker, rec.Owner, rec.Status, rec.IsHeld(st.Now, st.Namespace.MaxSkew))
	}
	fmt.Println(err)
	// Output:
	// 0 web-1 held true
	// <nil>
}

func ExampleStore_Free() {
	store, end := begin()
	defer end()
	l, err := store.Claim(context.Background(), claim("t1")) // its holder has crashed, say
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Free(context.Background(), "orders", l.Worker, l.FencingToken))
	fmt.Println(errors.Is(store.Free(context.Background(), "orders", l.Worker, l.FencingToken), driver.ErrNotHeld)) // it is free
	// Output:
	// <nil>
	// true
}

func ExampleStore_Raise() {
	store, end := begin()
	defer end()
	if _, err := store.Claim(context.Background(), claim("t1")); err != nil {
		fmt.Println(err)
		return
	}
	ns, err := store.Raise(context.Background(), "orders", 60_000)
	fmt.Println(ns.FenceWindow, ns.Floor-at.UnixMilli(), err)
	// Output: 60000 110000 <nil>
}

func ExampleStore_Put() {
	store, end := begin()
	defer end()
	before, err := store.List(context.Background(), "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := store.Claim(context.Background(), claim("t1")); err != nil {
		fmt.Println(err)
		return
	}
	store.Put(before) // it has forgotten the claim
	st, err := store.List(context.Background(), "orders")
	fmt.Println(len(st.Records), st.Missing, err)
	// Output: 0 true <nil>
}
