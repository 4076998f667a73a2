package worker_test

import (
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// What follows is for those who write a store; storetest has the suite that it passes.

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
	var skew *worker.SkewError
	fmt.Println(errors.As(asked().CheckSkew(160_000), &skew))
	// Output:
	// <nil>
	// true
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
