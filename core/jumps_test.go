package core_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A jump ahead beyond MaxJump is accepted only when it has persisted for ten seconds.
// Meanwhile ids continue in the old time, with every policy.
func TestJumpsAhead(t *testing.T) {
	for _, name := range []string{"Logical", "Refuse", "Wait", "Rollback", "Reuse", "Rotate"} {
		for _, jump := range []time.Duration{time.Second, time.Hour, 365 * 24 * time.Hour} {
			t.Run(fmt.Sprint(name, "/", jump), func(t *testing.T) {
				cfg := policies()[name]
				inBubble(t, func(t *testing.T, clock *manual) {
					var seen []core.Event
					cfg.Now, cfg.Observer = clock.now, observer(func(e core.Event) { seen = append(seen, e) })
					g := mustNew(t, cfg)
					next(t, g)
					small := jump <= time.Minute

					clock.offset = jump // for a moment
					time.Sleep(time.Millisecond)
					if p := next(t, g); p.Time.After(time.Now().Add(time.Second)) {
						t.Errorf("a jump of %v: an id of %v at %v", jump, p.Time, time.Now())
					}
					clock.offset = 0
					time.Sleep(2 * time.Second)
					next(t, g)

					clock.offset = jump // for good
					time.Sleep(time.Millisecond)
					next(t, g)
					time.Sleep(9 * time.Second)
					if p := next(t, g); !small && p.Time.After(time.Now()) {
						t.Errorf("followed after 9s: %v", p.Time)
					}
					time.Sleep(2 * time.Second)
					if p := next(t, g); p.Time.Before(time.Now().Add(jump - time.Second)) {
						t.Errorf("not followed after 11s: %v", p.Time)
					}
					kinds := map[core.EventKind]int{}
					for _, e := range seen {
						kinds[e.Kind]++
					}
					if want := map[bool]int{true: 0, false: 1}[small]; kinds[core.ClockJumpAccepted] != want || kinds[core.ClockJump] != 2*want {
						t.Errorf("events %v", seen)
					}
				})
			})
		}
	}
}

type observer func(core.Event)

func (o observer) Observe(e core.Event) { o(e) }

// A leap second that repeats a second, and one that is smeared over a day.
func TestLeapSecond(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: clock.now})
		var last int64
		draw := func() {
			t.Helper()
			id, err := g.Next(t.Context())
			if err != nil || id <= last {
				t.Fatalf("%d after %d: %v", id, last, err)
			}
			last = id
		}
		draw()
		clock.offset = -time.Second
		for range 100 {
			time.Sleep(15 * time.Millisecond)
			draw()
		}
		if ahead := g.Stats().Ahead; ahead != 0 {
			t.Errorf("%v ahead: the lead has not gone by itself", ahead)
		}
		for i := range 1000 { // a second in a thousand steps
			clock.offset = -time.Second - time.Duration(i)*time.Millisecond
			time.Sleep(86400 * time.Millisecond)
			draw()
		}
	})
}
