package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// stepBack makes a generator whose clock goes back by a minute after one id,
// and tells what the second call gives.
func stepBack(cfg core.Config) (before, after core.Parts, err error) {
	now := time.Now()
	cfg.Now = func() time.Time { return now }
	gen, err := core.New(cfg)
	if err != nil {
		return before, after, err
	}
	defer gen.Close()
	now = now.Add(2 * time.Millisecond) // a generator begins in the tick after the one it was made in
	first, err := gen.Next(context.Background())
	if err != nil {
		return before, after, err
	}
	now = now.Add(-time.Minute)
	second, err := gen.Next(context.Background())
	if err != nil {
		return before, after, err
	}
	before, _ = gen.Layout().Decode(first)
	after, err = gen.Layout().Decode(second)
	return before, after, err
}

func ExampleLogical() {
	before, after, err := stepBack(core.Config{Worker: core.Fixed(3)})
	fmt.Println(after.Time.Equal(before.Time), after.Sequence > before.Sequence, err)
	// Output: true true <nil>
}

func ExampleRefuse() {
	_, _, err := stepBack(core.Config{Worker: core.Fixed(3), ClockPolicy: core.Refuse{}})
	var clock *core.ClockError
	fmt.Println(errors.As(err, &clock), clock.Back)
	// Output: true 1m0s
}

func ExampleWait() {
	_, _, err := stepBack(core.Config{Worker: core.Fixed(3), ClockPolicy: core.Wait{Max: 5 * time.Second}})
	fmt.Println(err)
	// Output: core: the clock is 1m0s behind the last id, 5s is tolerated
}

func ExampleRollback() {
	layout := core.Layout{TimeBits: 41, RollbackBits: 2, WorkerBits: 8, SequenceBits: 12}
	before, after, err := stepBack(core.Config{Layout: layout, Worker: core.Fixed(3), ClockPolicy: core.Rollback{}})
	fmt.Println(before.Time.Sub(after.Time), before.Rollback, after.Rollback, err)
	// Output: 1m0s 0 1 <nil>
}

func ExampleReuse() {
	_, _, err := stepBack(core.Config{Worker: core.Fixed(3), ClockPolicy: core.Reuse{Window: time.Second}})
	fmt.Println(err) // farther back than the window
	// Output: core: the clock is 1m0s behind the last id, 1s is tolerated
}

func ExampleRotate() {
	_, _, err := stepBack(core.Config{Worker: core.Fixed(3), ClockPolicy: core.Rotate{}})
	fmt.Println(err)
	// Output: core: the clock is 1m0s behind the last id, 0s is tolerated, and there is no other worker number: core: Fixed(3) has no other number to give: core: worker number lost
}

func ExampleConfig_sequence() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3), Sequence: core.SequenceRandom})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	id, err := gen.Next(context.Background())
	parts, _ := gen.Layout().Decode(id)
	fmt.Println(parts.Sequence < 2048, err) // it begins in the lower half of the range
	// Output: true <nil>
}

func ExampleLogTo() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	_, _, err := stepBack(core.Config{Worker: core.Fixed(3), ClockPolicy: core.Refuse{}, Observer: core.LogTo(log)})
	fmt.Println(err != nil)
	// Output:
	// level=WARN msg="snowkey: clock went back" worker=3 by=1m0s
	// level=WARN msg="snowkey: waited too long" worker=3 err="core: the clock is 1m0s behind the last id, 0s is tolerated"
	// true
}

func ExampleGrant_RaiseFence() {
	now := time.Now()
	grant, err := core.NewGrant(core.Twitter(), 17, now, now.Add(time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	grant.RaiseFence(now.Add(30 * time.Second)) // once a store has recorded it
	grant.Revoke(errors.New("the store gave it to somebody else"))
	_, err = core.New(core.Config{Worker: holder{grant}})
	fmt.Println(err)
	// Output: core: worker number lost: the store gave it to somebody else
}

func ExamplePresets() {
	for _, p := range core.Presets() {
		fmt.Printf("%-16s%s\n", p.Name, p.Layout)
	}
	// Output:
	// twitter         41 time | 5 datacenter | 5 worker | 12 sequence, ticks of 1ms since 2010-11-04T01:42:54.657Z
	// discord         41 time | 5 datacenter | 5 worker | 12 sequence, ticks of 1ms since 2015-01-01T00:00:00Z
	// instagram       40 time | 13 worker | 10 sequence, ticks of 1ms since 2011-08-24T21:07:01.721Z
	// mastodon        47 time | 16 sequence, ticks of 1ms since 1970-01-01T00:00:00Z
	// sonyflake       39 time | 8 sequence | 16 worker, ticks of 10ms since 2014-09-01T00:00:00Z
	// classic2015     41 time | 5 datacenter | 5 worker | 12 sequence, ticks of 1ms since 2014-12-31T16:00:00Z
	// seconds         32 time | 10 worker | 21 sequence, ticks of 1s since 2020-01-01T00:00:00Z
	// javascript-safe 41 time | 6 worker | 6 sequence, ticks of 1ms since 2020-01-01T00:00:00Z
}

func ExampleGenerator_Stats() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	err = gen.Fill(context.Background(), make([]int64, 100))
	st := gen.Stats()
	fmt.Println(st.Issued, st.Worker, st.StepsBack, st.LayoutLeft > 0, err)
	// Output: 100 3 0 true <nil>
}
