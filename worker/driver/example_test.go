package driver_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// asked is a claim as a lease makes it, when its clock shows 100 s.
func asked() driver.Claim {
	return driver.Claim{
		Namespace: "orders", Layout: "the fingerprint", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: "a random one", Owner: "web-1",
		Now: 100_000, FenceWindow: 30_000, MaxSkew: 10_000,
	}
}

// kept is what a store has of the namespace, when its clock shows 100 s: one record, which nobody holds any more.
func kept() driver.State {
	return driver.State{
		Now: 100_000, Server: "server 1", Count: 1,
		Namespace: driver.Namespace{
			Name: "orders", Layout: "the fingerprint", FenceWindow: 30_000, MaxSkew: 10_000, Incarnation: "server 1", Since: 20_000, Seen: 1, Version: driver.Version,
		},
		Records: []driver.Record{{Worker: 2, ClaimID: "an old one", FencingToken: 70_000, Start: 70_000, Fence: 102_000, Status: driver.Released}},
	}
}

func ExampleClaim_Decide() {
	change, err := asked().Decide(kept())
	fmt.Println(change.Record.Worker, change.Lease.Start, change.Lease.Fence, err)

	s := kept()
	s.Server = "server 2" // it may have forgotten what server 1 has acknowledged
	change, err = asked().Decide(s)
	fmt.Println(change.Namespace.Incarnation, change.Namespace.Floor, err)
	s.Namespace = *change.Namespace
	change, err = asked().Decide(s)
	fmt.Println(change.Record.Worker, change.Lease.Start, change.Lease.Fence, err)
	// Output:
	// 2 102000 130000 <nil>
	// server 2 140000 <nil>
	// 2 140000 170000 <nil>
}

func ExampleClaim_Validate() {
	c := asked()
	c.Namespace, c.FenceWindow = "two words", 0
	fmt.Println(c.Validate())
	// Output: worker: Namespace "two words": must be 1 to 64 letters, digits and . _ - : / of ASCII; FenceWindow 0: must be 1 millisecond to a year, in milliseconds
}

func ExampleClaim_CheckLease() {
	fmt.Println(asked().CheckLease(driver.Lease{Worker: 2, FencingToken: 7, Start: 100_000, Fence: 130_000}))
	fmt.Println(asked().CheckLease(driver.Lease{Worker: 4, FencingToken: 7, Start: 100_000, Fence: 130_000}))
	// Output:
	// <nil>
	// worker: the store's lease does not match the claim: worker ID 4 of 4 (Preferred -1, RequirePreferred false, Exclude -1), fencing token 7, from 100000 to 130000
}

func ExampleRenewal_Decide() {
	s := kept()
	s.Records[0].Status = driver.Held
	r := driver.Renewal{Namespace: "orders", Worker: 2, ClaimID: "an old one", FencingToken: 70_000, FenceWindow: 30_000}
	change, err := r.Decide(s)
	fmt.Println(change.Lease.Fence, err)

	s.Namespace.Since = 103_000 // another may have held it before, in what was forgotten
	_, err = r.Decide(s)
	fmt.Println(errors.Is(err, driver.ErrForgotten), errors.Is(err, driver.ErrNotHeld))
	// Output:
	// 130000 <nil>
	// true true
}

func ExampleRelease_Decide() {
	record := driver.Record{Worker: 2, ClaimID: "a random one", FencingToken: 7, Start: 100_000, Fence: 130_000, Status: driver.Held}
	r := driver.Release{Worker: 2, ClaimID: "a random one", FencingToken: 7, Unused: 104_000}
	record, err := r.Decide(record)
	fmt.Println(record.Fence, record.Status, err)
	_, err = r.Decide(record) // again
	fmt.Println(err)
	// Output:
	// 104000 released <nil>
	// driver: the worker ID is not held under this claim any more
}

func ExampleRecord_Free() {
	record := driver.Record{Worker: 2, ClaimID: "a random one", FencingToken: 7, Fence: 130_000, Status: driver.Kept}
	_, err := record.Free(6)
	fmt.Println(err)
	record, err = record.Free(7)
	fmt.Println(record.Status, record.Fence, err)
	// Output:
	// driver: the worker ID is not held under this claim any more
	// freed 130000 <nil>
}

func ExampleRecord_IsHeld() {
	const maxSkew = 10_000
	record := driver.Record{Worker: 2, ClaimID: "a random one", FencingToken: 7, Fence: 130_000, Status: driver.Held}
	fmt.Println(record.IsHeld(140_000, maxSkew), record.IsHeld(140_001, maxSkew))
	record.Status = driver.Kept
	fmt.Println(record.IsHeld(140_001, maxSkew))
	// Output:
	// true false
	// true
}

func ExampleRecord_OfGenerator() {
	fmt.Println(driver.Record{ClaimID: "sql-generator:4fb6"}.OfGenerator(), driver.Record{ClaimID: "4fb6"}.OfGenerator())
	// Output: true false
}

func ExampleState_Forgot() {
	s := kept()
	fmt.Println(s.Forgot())
	s.Count, s.Records = 0, nil // somebody has deleted the record
	fmt.Println(s.Forgot())
	// Output:
	// false
	// true
}

func ExampleState_Listed() {
	s := kept()
	s.Records = append(s.Records, driver.Record{Worker: 0, Status: driver.Unused}, driver.Record{Worker: 1, FencingToken: 7, Status: driver.Held})
	for _, rec := range s.Listed().Records {
		fmt.Println(rec.Worker, rec.Status)
	}
	// Output:
	// 1 held
	// 2 released
}

func ExampleState_Raise() {
	change, err := kept().Raise(60_000)
	fmt.Println(change.Namespace.Floor, change.Namespace.FenceWindow, err)
	_, err = kept().Raise(-1)
	fmt.Println(err)
	// Output:
	// 182000 60000 <nil>
	// driver: FenceWindow -1: must be 1 millisecond to a year, in milliseconds, or 0 for the present one
}

func ExampleTransact() {
	stored := kept()
	read := func(context.Context, bool) (driver.State, error) { return stored, nil }
	write := func(_ context.Context, s driver.State, change driver.Change) (bool, error) {
		if stored.Records[0] != s.Records[0] {
			return false, nil // another client was faster
		}
		stored.Records[0] = *change.Record
		return true, nil
	}
	lease, err := driver.Transact(context.Background(), asked().Decide, read, write)
	fmt.Println(lease.Worker, lease.Start, lease.Fence, err)
	fmt.Println(stored.Records[0].ClaimID, stored.Records[0].Status)
	// Output:
	// 2 102000 130000 <nil>
	// a random one held
}

func ExampleRetry() {
	reads := 0
	err := driver.Retry(context.Background(), func() (swapped bool, err error) {
		reads++ // read the record, change it, and write it if it is as it was read
		return reads == 3, nil
	})
	fmt.Println(reads, err)
	// Output: 3 <nil>
}

func ExampleLimiter_Do() {
	var limiter driver.Limiter // a field of the store
	err := limiter.Do(context.Background(), func() error { return errors.New("connection refused") })
	fmt.Println(err)
	// Output: connection refused
}

func ExamplePermanent() {
	err := driver.Permanent(errors.New("mystore: wrong password"))
	fmt.Println(err, driver.IsPermanent(err))
	// Output: mystore: wrong password true
}

func ExampleIsPermanent() {
	fmt.Println(driver.IsPermanent(&driver.LayoutError{}), driver.IsPermanent(&driver.NoWorkerIDError{}))
	// Output: true false
}

func ExampleFingerprint() {
	fmt.Println(driver.Fingerprint(core.Layout{}))
	// Output: epoch=1288834974657 tick=1 time=41 rollback=0 datacenter=5 worker=5 sequence=12 order=worker,sequence signed
}

func ExampleOfDatacenter() {
	fmt.Println(driver.OfDatacenter(driver.Fingerprint(core.Layout{}), 3))
	// Output: epoch=1288834974657 tick=1 time=41 rollback=0 datacenter=5 worker=5 sequence=12 order=worker,sequence signed only-datacenter=3
}

func ExampleCheckNamespace() {
	fmt.Println(driver.CheckNamespace("shop/orders:eu"))
	fmt.Println(driver.CheckNamespace("shop orders"))
	// Output:
	// <nil>
	// worker: Namespace "shop orders": must be 1 to 64 letters, digits and . _ - : / of ASCII
}

func ExampleCheckReservation() {
	fmt.Println(driver.CheckReservation("invoice-2026", 100))
	fmt.Println(driver.CheckReservation("invoice-2026", 0))
	// Output:
	// <nil>
	// worker: n 0: must be 1 to 1099511627776
}
