package driver_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// asked is a request as a lease makes it.
func asked() driver.Request {
	return driver.Request{
		Namespace: "orders", Layout: "the fingerprint", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: "a random one", Owner: "web-1",
		Now: 100_000, FenceWindow: 30_000, TTL: 40_000, MaxSkew: 10_000, MaxLead: 60_000,
	}
}

func ExampleRequest_Grant() {
	for _, fence := range []int64{0, 120_000} { // never held; held up to this fence
		_, c := asked().Grant(driver.Record{Worker: 2, Fence: fence}, 100_000)
		fmt.Println(c.From, c.Fence)
	}
	record, _ := asked().Grant(driver.Record{Worker: 2, FencingToken: 6}, 100_000)
	fmt.Println(record.FencingToken, record.Expires)
	// Output:
	// 100000 130000
	// 120000 150000
	// 7 140000
}

func ExampleRequest_Replay() {
	record := driver.Record{Worker: 2, FencingToken: 7, ClaimID: "a random one", Fence: 130_000}
	fmt.Printf("%+v\n", asked().Replay(record)) // the record has the request's claim ID
	// Output: {Worker:2 FencingToken:7 From:100000 Fence:130000}
}

func ExampleRequest_Validate() {
	r := asked()
	r.Namespace, r.FenceWindow = "two words", 0
	fmt.Println(r.Validate())
	// Output: worker: Namespace "two words": must be 1 to 64 letters, digits and . _ - : / of ASCII; FenceWindow 0: must be 1 millisecond to 100 years, in milliseconds
}

func ExampleRequest_CheckSkew() {
	fmt.Println(asked().CheckSkew(105_000))
	var skew *driver.SkewError
	fmt.Println(errors.As(asked().CheckSkew(160_000), &skew))
	// Output:
	// <nil>
	// true
}

func ExampleRequest_CheckClaim() {
	fmt.Println(asked().CheckClaim(driver.Claim{Worker: 2, FencingToken: 7, From: 100_000, Fence: 130_000}))
	fmt.Println(asked().CheckClaim(driver.Claim{Worker: 4, FencingToken: 7, From: 100_000, Fence: 130_000}))
	// Output:
	// <nil>
	// worker: the store's claim does not match the request: worker ID 4 of 4 (Preferred -1, RequirePreferred false, Exclude -1), fencing token 7, from 100000 to 130000, FenceWindow 30000
}

func ExampleRenewal_Apply() {
	record := driver.Record{Worker: 2, FencingToken: 7, ClaimID: "a random one", Fence: 130_000}
	r := driver.Renewal{Worker: 2, FencingToken: 7, ClaimID: "a random one", Fence: 140_000, TTL: 40_000}
	fmt.Println(r.Apply(&record, 110_000), record.Fence, record.Expires)
	r.FencingToken, r.Fence = 6, 150_000
	fmt.Println(r.Apply(&record, 110_000), record.Fence)
	// Output:
	// true 140000 150000
	// false 140000
}

func ExampleReturn_Apply() {
	record := driver.Record{Worker: 2, FencingToken: 7, ClaimID: "a random one", Fence: 130_000, Expires: 140_000}
	r := driver.Return{Worker: 2, FencingToken: 7, ClaimID: "a random one", Fence: 104_000}
	fmt.Println(r.Apply(&record), record.Fence, record.Free(105_000))
	fmt.Println(r.Apply(&record)) // it is released already
	// Output:
	// true 104000 true
	// false
}

func ExampleRecord_Evict() {
	record := driver.Record{Worker: 2, FencingToken: 7, ClaimID: "a random one", Fence: 130_000, Expires: 140_000}
	fmt.Println(record.Evict(6), record.Free(105_000))
	fmt.Println(record.Evict(7), record.Free(105_000), record.Fence)
	// Output:
	// false false
	// true true 130000
}

func ExampleRecord_Free() {
	held := driver.Record{Worker: 2, FencingToken: 7, ClaimID: "a random one", Expires: 140_000}
	fmt.Println(held.Free(139_000), held.Free(141_000))
	released := driver.Record{Worker: 2, FencingToken: 7}
	fmt.Println(released.Free(139_000))
	// Output:
	// false true
	// true
}

func ExampleCandidates() {
	records := []driver.Record{
		{Worker: 0, FencingToken: 3, ClaimID: "another one", Fence: 125_000, Expires: 140_000}, // held
		{Worker: 1, FencingToken: 1, Fence: 110_000},                                           // its fence is ahead of the clock
		{Worker: 2, FencingToken: 5, Fence: 90_000},
	}
	free, err := driver.Candidates(asked(), records, 100_000, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rec := range free {
		fmt.Print(rec.Worker, " ")
	}
	fmt.Println()
	// Output: 2 3 1
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

func ExampleRecord_OfGenerator() {
	fmt.Println(driver.Record{ClaimID: "sql-generator:4fb6"}.OfGenerator(), driver.Record{ClaimID: "4fb6"}.OfGenerator())
	// Output: true false
}
