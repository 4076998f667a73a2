package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// grantUntil returns a grant of worker ID 17.
func grantUntil(from, fence time.Time) *core.Grant {
	grant, err := core.NewGrant(core.Twitter(), 17, from, fence)
	if err != nil {
		panic(err)
	}
	return grant
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

func ExampleGrant_Revoke() {
	now := time.Now()
	grant := grantUntil(now, now.Add(time.Minute))
	gen := generator(core.Config{Worker: holder{grant}}) // holder's Grant method gives it
	defer gen.Close()
	grant.Revoke(errors.New("the database was restored"))
	_, err := gen.Next(context.Background())
	fmt.Println(errors.Is(err, core.ErrLost))
	// Output: true
}

func ExampleGrant_Close() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	grant := grantUntil(now, now.Add(time.Minute))
	gen := generator(core.Config{
		Worker: holder{grant}, ClockPolicy: core.Logical{Detached: true}, // time moves only when a tick is full
	})
	defer gen.Close()
	err := gen.Fill(context.Background(), make([]int64, 5000))
	fmt.Println(grant.Close().Sub(now), err) // two ticks of 4096: what lies beyond can be given back
	// Output: 2ms <nil>
}

func ExampleGrant_Done() {
	now := time.Now()
	grant := grantUntil(now, now.Add(time.Minute))
	gen := generator(core.Config{Worker: holder{grant}})
	_, err := gen.Next(context.Background())
	fmt.Println(err)
	gen.Close()
	<-grant.Done()
	rest := grantUntil(grant.Close(), now.Add(time.Minute)) // for the next generator
	again := generator(core.Config{Worker: holder{rest}})
	defer again.Close()
	// Output: <nil>
}

// pool gives another worker ID for the one that is to be exchanged.
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
	gen := generator(core.Config{
		Worker: &pool{[]int64{17, 18}}, ClockPolicy: core.Rotate{}, Now: func() time.Time { return time.Now().Add(-back) },
	})
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
	// clock stepped back
	// 18 <nil>
}

func ExampleGrant_RaiseFence() {
	now := time.Now()
	grant := grantUntil(now, now.Add(time.Second))
	grant.RaiseFence(now.Add(30 * time.Second)) // once a store has recorded it
	grant.Revoke(errors.New("the store gave it to another holder"))
	_, err := core.New(core.Config{Worker: holder{grant}})
	fmt.Println(err)
	// Output: core: worker ID lost: the store gave it to another holder
}

// A GrantSource raises the fence when the generator has reached it.
func ExampleGrant_FenceReached() {
	now := time.Now()
	grant := grantUntil(now.Add(-time.Minute), now)
	gen := generator(core.Config{Worker: holder{grant}})
	defer gen.Close()
	go func() {
		<-grant.FenceReached()
		// … record the new fence where it is durable, and only then:
		grant.RaiseFence(now.Add(time.Minute))
	}()
	_, err := gen.Next(context.Background())
	fmt.Println(err)
	// Output: <nil>
}

// While the fence cannot be raised, calls that have reached it fail at once.
func ExampleGrant_SetFenceError() {
	now := time.Now()
	grant := grantUntil(now.Add(-time.Minute), now.Add(-time.Second))
	gen := generator(core.Config{Worker: holder{grant}, MaxWait: time.Hour})
	defer gen.Close()
	down := errors.New("the store is down")
	grant.SetFenceError(down)
	_, err := gen.Next(context.Background())
	fmt.Println(errors.Is(err, core.ErrFenced), errors.Is(err, down))
	grant.RaiseFence(now.Add(time.Minute)) // it is back
	_, err = gen.Next(context.Background())
	fmt.Println(err)
	// Output:
	// true true
	// <nil>
}
