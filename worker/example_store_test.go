package worker_test

import (
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// What follows is for those who write a store; storetest has the suite that it passes.

// asked is a request as a lease makes it.
func asked() worker.Request {
	return worker.Request{
		Space: "orders", Layout: "the fingerprint", Numbers: 4, Preferred: -1, Avoid: -1, Token: "a random one", Owner: "web-1",
		Now: 100_000, Window: 30_000, TTL: 40_000, MaxSkew: 10_000, MaxLead: 60_000,
	}
}

func ExampleRequest_Span() {
	fmt.Println(asked().Span(0))       // never held: from the claimant's clock on
	fmt.Println(asked().Span(120_000)) // its last holder may have come to 120_000
	// Output:
	// 100000 130000
	// 120000 150000
}

func ExampleRequest_Again() {
	row := worker.Row{Worker: 2, Epoch: 7, Token: "a random one", Until: 130_000}
	fmt.Printf("%+v\n", asked().Again(row)) // the row has the request's token
	// Output: {Worker:2 Epoch:7 From:100000 Until:130000}
}

func ExampleRequest_Check() {
	r := asked()
	r.Space, r.Window = "two words", 0
	fmt.Println(r.Check())
	// Output: worker: Space "two words": must be 1 to 64 letters, digits and . _ - : / of ASCII; Window 0: must be at least 1 millisecond, and not a century
}

func ExampleRequest_CheckSkew() {
	fmt.Println(asked().CheckSkew(105_000))
	var skew *worker.SkewError
	fmt.Println(errors.As(asked().CheckSkew(160_000), &skew))
	// Output:
	// <nil>
	// true
}

func ExampleRequest_MayGive() {
	r := asked()
	r.Avoid = 2
	fmt.Println(r.MayGive(1), r.MayGive(2), r.MayGive(4))
	r.Preferred, r.Only = 3, true
	fmt.Println(r.MayGive(1), r.MayGive(3))
	// Output:
	// true false false
	// false true
}

func ExampleRow_Free() {
	held := worker.Row{Worker: 2, Epoch: 7, Token: "a random one", Expires: 140_000}
	fmt.Println(held.Free(139_000), held.Free(141_000))
	released := worker.Row{Worker: 2, Epoch: 7}
	fmt.Println(released.Free(139_000))
	// Output:
	// false true
	// true
}

func ExampleExpiry() {
	fmt.Println(worker.Expiry(100_000, 40_000))
	fmt.Println(worker.Expiry(100_000, worker.NoTTL) == worker.NoTTL)
	// Output:
	// 140000
	// true
}
