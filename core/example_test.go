package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func Example() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	a, _ := gen.Next(context.Background())
	b, _ := gen.Next(context.Background())
	fmt.Println(a < b)
	// Output: true
}

func ExampleNew_faults() {
	_, err := core.New(core.Config{Layout: core.Layout{Tick: 1500 * time.Microsecond}})
	var faults *core.ConfigError
	if errors.As(err, &faults) {
		for _, f := range faults.Fields {
			fmt.Println(f)
		}
	}
	// Output:
	// Layout.Tick 1.5ms: must be a whole number of milliseconds, at least 1ms
	// Worker nil: must be set, for example to core.Fixed(n): no number is safe to guess
}

func ExampleFixed() {
	_, err := core.New(core.Config{Worker: core.Fixed(1024)})
	fmt.Println(err)
	// Output: core: Worker 1024: must be 0 to 1023 in this layout (5 datacenter and 5 worker bits)
}

func ExampleGenerator_Fill() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	ids := make([]int64, 1000)
	if err := gen.Fill(context.Background(), ids); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ids[0] < ids[999], gen.Stats().Issued)
	// Output: true 1000
}

func ExampleGenerator_Next_closed() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = gen.Close()
	_, err = gen.Next(context.Background())
	fmt.Println(errors.Is(err, core.ErrClosed))
	// Output: true
}

func ExampleNewGrant() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	grant, err := core.NewGrant(core.Twitter(), 17, now, now.Add(30*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(grant.Close()) // nothing was issued: all of it can be given back
	// Output: 2026-11-21 12:00:00 +0000 UTC
}

func ExampleLayout_Decode() {
	p, err := core.Discord().Decode(175928847299117063)
	fmt.Println(p.Time.Format(time.RFC3339Nano), p.Datacenter, p.Worker, p.Sequence, err)
	// Output: 2016-04-30T11:18:25.796Z 1 0 7 <nil>
}

func ExampleLayout_Compose() {
	id, err := core.Twitter().Compose(core.Parts{Time: time.UnixMilli(1505914988849), Datacenter: 17, Worker: 25})
	fmt.Println(id, err)
	_, err = core.Twitter().Compose(core.Parts{Time: time.UnixMilli(1505914988849), Worker: 32})
	fmt.Println(err)
	// Output:
	// 910499571847892992 <nil>
	// core: Worker 32 is outside the layout: 0 to 31 fit
}

func ExampleLayout_Range() {
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	lo, hi, err := core.Twitter().Range(day, day.AddDate(0, 0, 1))
	fmt.Printf("WHERE id >= %d AND id < %d, %v\n", lo, hi, err)
	// Output: WHERE id >= 2123929381893046272 AND id < 2124291769758646272, <nil>
}

func ExampleLayout_FirstAt() {
	id, err := core.Twitter().FirstAt(core.Twitter().Epoch.Add(time.Millisecond))
	fmt.Println(id, err)
	// Output: 4194304 <nil>
}

func ExampleLayout_String() {
	fmt.Println(core.Twitter())
	fmt.Println(core.Twitter().IDsPerTick(), core.Twitter().WorkerIDs(), core.Twitter().End().Format(time.DateOnly))
	// Output:
	// 41 time | 5 datacenter | 5 worker | 12 sequence, ticks of 1ms since 2010-11-04T01:42:54.657Z
	// 4096 1024 2080-07-10
}

func ExampleLayout_Diagram() {
	fmt.Print(core.Twitter().Diagram())
	// Output:
	//   63      62 … 22   21 … 17      16 … 12   11 … 0
	// ┌───────┬─────────┬────────────┬─────────┬──────────┐
	// │ 0     │ time    │ datacenter │ worker  │ sequence │
	// │ 1 bit │ 41 bits │ 5 bits     │ 5 bits  │ 12 bits  │
	// └───────┴─────────┴────────────┴─────────┴──────────┘
}

func ExampleLayout_Explain() {
	text, err := core.Twitter().Explain(1541815603606036480)
	fmt.Print(text)
	fmt.Println(err)
	// Output:
	// 0 00101010110010110100001000111110110001000 01011 11010 000000000000
	//   │                                         │     │     └ sequence 0
	//   │                                         │     └ worker 26
	//   │                                         └ datacenter 11
	//   └ time 2022-06-28T16:07:40.105Z
	// <nil>
}
