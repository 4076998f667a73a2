package core_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

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
	// Output: 41 time | 5 datacenter | 5 machine | 12 sequence, ticks of 1ms since 2010-11-04T01:42:54.657Z
}

func ExampleLayout_Diagram() {
	fmt.Print(core.Twitter().Diagram())
	// Output:
	//   63      62 … 22   21 … 17      16 … 12   11 … 0
	// ┌───────┬─────────┬────────────┬─────────┬──────────┐
	// │ 0     │ time    │ datacenter │ machine │ sequence │
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
	//   │                                         │     └ machine 26
	//   │                                         └ datacenter 11
	//   └ time 2022-06-28T16:07:40.105Z
	// <nil>
}

func ExampleTwitter() {
	p, err := core.Twitter().Decode(1541815603606036480)
	fmt.Println(p.Time, p.Datacenter, p.Worker, p.Sequence, err)
	// Output: 2022-06-28 16:07:40.105 +0000 UTC 11 26 0 <nil>
}

func ExampleLayout_Validate() {
	l := core.Layout{TimeBits: 42, WorkerBits: 10, SequenceBits: 12, Tick: 100 * time.Microsecond}
	fmt.Println(l.Validate())
	fmt.Println(core.Twitter().Validate())
	// Output:
	// core: Layout.Tick 100µs: must be a whole number of milliseconds, at least 1ms; Layout.TimeBits+RollbackBits+DatacenterBits+WorkerBits+SequenceBits 42+0+0+10+12 = 64: must be at most 63
	// <nil>
}

func ExampleLayout_WithDefaults() {
	fmt.Println(core.Layout{}.WithDefaults() == core.Twitter())
	// Output: true
}

func ExampleLayout_End() {
	fmt.Println(core.Twitter().End().Format(time.RFC3339Nano))
	// Output: 2080-07-10T17:30:30.209Z
}

func ExampleLayout_IDsPerTick() {
	l := core.Twitter()
	fmt.Println(l.IDsPerTick()*int64(time.Second/l.Tick), "ids a second")
	// Output: 4096000 ids a second
}

func ExampleLayout_WorkerIDs() {
	fmt.Println(core.Twitter().WorkerIDs()) // datacenter and worker together
	// Output: 1024
}

// Ids of an unsigned layout may be negative as int64; they sort as uint64.
func ExampleLayout_unsigned() {
	l := core.Layout{TimeBits: 42, WorkerBits: 10, SequenceBits: 12, Unsigned: true}
	id, err := l.Compose(core.Parts{Time: l.End().Add(-time.Millisecond)})
	fmt.Println(id < 0, uint64(id), err)
	// Output: true 18446744073705357312 <nil>
}

func ExampleRangeError() {
	_, err := core.Twitter().FirstAt(time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC))
	var outside *core.RangeError
	if errors.As(err, &outside) {
		fmt.Println(outside.Field)
		fmt.Println(outside.Limit)
	}
	// Output:
	// time
	// times from 2010-11-04T01:42:54.657Z to before 2080-07-10T17:30:30.209Z fit
}

func ExamplePresets() {
	for _, p := range core.Presets() {
		fmt.Printf("%-16s%s\n", p.Name, p.Layout)
	}
	// Output:
	// twitter         41 time | 5 datacenter | 5 machine | 12 sequence, ticks of 1ms since 2010-11-04T01:42:54.657Z
	// discord         41 time | 5 datacenter | 5 machine | 12 sequence, ticks of 1ms since 2015-01-01T00:00:00Z
	// instagram       40 time | 13 worker ID | 10 sequence, ticks of 1ms since 2011-08-24T21:07:01.721Z
	// mastodon        47 time | 16 sequence, ticks of 1ms since 1970-01-01T00:00:00Z
	// sonyflake       39 time | 8 sequence | 16 worker ID, ticks of 10ms since 2014-09-01T00:00:00Z
	// tsid            41 time | 10 worker ID | 12 sequence, ticks of 1ms since 2020-01-01T00:00:00Z
	// pgedge          41 time | 12 sequence | 10 worker ID, ticks of 1ms since 2023-01-01T00:00:00Z
	// classic2015     41 time | 5 datacenter | 5 machine | 12 sequence, ticks of 1ms since 2014-12-31T16:00:00Z
	// seconds         32 time | 10 worker ID | 21 sequence, ticks of 1s since 2020-01-01T00:00:00Z
	// many-workers    41 time | 16 worker ID | 6 sequence, ticks of 1ms since 2010-11-04T01:42:54.657Z
	// javascript-safe 41 time | 6 worker ID | 6 sequence, ticks of 1ms since 2020-01-01T00:00:00Z
}

// One id a second: id % 16 is always the same, and the shards are not.
func ExampleShard() {
	id, err := core.Twitter().Compose(core.Parts{Time: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Worker: 3})
	fmt.Println(err)
	for range 6 {
		n, err := core.Shard(id, 16)
		fmt.Println(id, id%16, n, err)
		id += 1000 << 22
	}
	_, err = core.Shard(id, 0)
	fmt.Println(err)
	// Output:
	// <nil>
	// 2124050177848258560 0 10 <nil>
	// 2124050182042562560 0 0 <nil>
	// 2124050186236866560 0 2 <nil>
	// 2124050190431170560 0 15 <nil>
	// 2124050194625474560 0 12 <nil>
	// 2124050198819778560 0 1 <nil>
	// core: n 0: must be 1 to 65536
}
