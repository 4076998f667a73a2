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

func ExampleClockError() {
	_, _, err := stepBack(core.Config{Worker: core.Fixed(3), ClockPolicy: core.Refuse{}})
	var clock *core.ClockError
	if errors.As(err, &clock) {
		fmt.Println(clock.Back, clock.Tolerated)
	}
	// Output: 1m0s 0s
}

// stepBack makes a generator whose clock goes back by a minute after one id,
// and returns what the second call gives.
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
	// Output: core: the clock is 1m0s behind the last id, 0s is tolerated; no other worker ID: core: Fixed(3) has no other worker ID: core: worker ID lost
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
	// level=WARN msg="snowkey: clock step back" worker=3 duration=1m0s
	// level=WARN msg="snowkey: wait timeout" worker=3 err="core: the clock is 1m0s behind the last id, 0s is tolerated"
	// true
}
