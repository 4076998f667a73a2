package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func ExampleNew() {
	gen, err := core.New(core.Config{
		Layout:      core.Sonyflake(),
		Worker:      core.Fixed(4711),
		ClockPolicy: core.Wait{Max: 50 * time.Millisecond},
		Sequence:    core.SequenceRandom,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	fmt.Println(gen.Layout())
	// Output: 39 time | 8 sequence | 16 worker, ticks of 10ms since 2014-09-01T00:00:00Z
}

func ExampleGenerator_Next() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := gen.Layout().Decode(id)
	fmt.Println(parts.Worker, time.Since(parts.Time) < time.Minute, err)
	// Output: 3 true <nil>
}

func ExampleGenerator_Layout() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)}) // a zero Layout: Twitter's
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	fmt.Println(gen.Layout() == core.Twitter())
	// Output: true
}

func ExampleGenerator_Close() {
	worker := core.Fixed(3)
	gen, err := core.New(core.Config{Worker: worker})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = core.New(core.Config{Worker: worker})
	fmt.Println(errors.Is(err, core.ErrInUse))
	fmt.Println(gen.Close())
	again, err := core.New(core.Config{Worker: worker}) // goes on above the last id
	fmt.Println(err)
	fmt.Println(again.Close())
	// Output:
	// true
	// <nil>
	// <nil>
	// <nil>
}

func ExampleGrant_Revoke() {
	now := time.Now()
	grant, err := core.NewGrant(core.Twitter(), 17, now, now.Add(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := core.New(core.Config{Worker: holder{grant}}) // holder's Grant method gives it
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	grant.Revoke(errors.New("the database was restored"))
	_, err = gen.Next(context.Background())
	fmt.Println(errors.Is(err, core.ErrLost))
	// Output: true
}

func ExampleGrant_Close() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	grant, err := core.NewGrant(core.Twitter(), 17, now, now.Add(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := core.New(core.Config{
		Worker: holder{grant}, ClockPolicy: core.Logical{Detached: true}, // time moves only when a tick is full
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	if err := gen.Fill(context.Background(), make([]int64, 5000)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(grant.Close().Sub(now)) // two ticks of 4096: what lies beyond can be given back
	// Output: 2ms
}

func ExampleGrant_Done() {
	now := time.Now()
	grant, err := core.NewGrant(core.Twitter(), 17, now, now.Add(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := core.New(core.Config{Worker: holder{grant}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = gen.Next(context.Background())
	fmt.Println(err, gen.Close())
	<-grant.Done()
	rest, err := core.NewGrant(core.Twitter(), 17, grant.Close(), now.Add(time.Minute)) // for the next generator
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := core.New(core.Config{Worker: holder{rest}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Close())
	// Output:
	// <nil> <nil>
	// <nil>
}

func ExampleGrant_Attached() {
	grant, err := core.NewGrant(core.Twitter(), 17, time.Time{}, time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = core.New(core.Config{Worker: holder{grant}, NotBefore: core.Twitter().End()}) // cannot be
	<-grant.Done()
	fmt.Println(err != nil, grant.Attached()) // it was given back unused
	// Output: true false
}

// pool gives another number for the one that is to be exchanged.
type pool struct{ numbers []int64 }

func (p *pool) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	if prev != nil {
		fmt.Println(prev.RegrantReason())
	}
	if len(p.numbers) == 0 {
		return nil, errors.New("no number is left")
	}
	n := p.numbers[0]
	p.numbers = p.numbers[1:]
	return core.NewGrant(core.Twitter(), n, time.Time{}, time.Time{})
}

func ExampleGrant_RegrantReason() {
	var back time.Duration
	gen, err := core.New(core.Config{
		Worker: &pool{[]int64{17, 18}}, ClockPolicy: core.Rotate{}, Now: func() time.Time { return time.Now().Add(-back) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	for range 2 {
		id, err := gen.Next(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		parts, err := gen.Layout().Decode(id)
		fmt.Println(parts.Datacenter<<5|parts.Worker, err)
		back = time.Hour
	}
	// Output:
	// 17 <nil>
	// clock went back
	// 18 <nil>
}

func ExampleClockError() {
	_, _, err := stepBack(core.Config{Worker: core.Fixed(3), ClockPolicy: core.Refuse{}})
	var clock *core.ClockError
	if errors.As(err, &clock) {
		fmt.Println(clock.Back, clock.Tolerated)
	}
	// Output: 1m0s 0s
}
