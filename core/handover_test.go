package core_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestDetached(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Twitter()
		from := time.Now().Add(-24 * time.Hour)
		gr := mustGrant(t, l, 1, from, from.Add(10*time.Millisecond))
		g := mustNew(t, core.Config{Worker: holder{gr}, Now: clock.now, ClockPolicy: core.Logical{Detached: true}, MaxWait: time.Second})
		ids := make([]int64, 10*4096)
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		first, _ := l.Decode(ids[0])
		last, _ := l.Decode(ids[len(ids)-1])
		if !first.Time.Equal(from) || !last.Time.Equal(from.Add(9*time.Millisecond)) {
			t.Errorf("from %v to %v", first.Time, last.Time)
		}
		noDuplicates(t, ids)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrFenced) {
			t.Error(err)
		}
		gr.Revoke(nil)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrLost) {
			t.Error(err)
		}
		if _, err := core.New(core.Config{Worker: core.Fixed(1), ClockPolicy: core.Logical{Detached: true}}); err == nil || !strings.Contains(err.Error(), "a grant with a fence") {
			t.Errorf("without a fence: %v", err)
		}
	})
}

// After the loss of a grant the generator continues under the next, above the
// last id.
func TestContinuesUnderAnotherGrant(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Twitter()
		now := time.Now()
		src := &source{grants: []*core.Grant{
			mustGrant(t, l, 1, now, now.Add(50*time.Millisecond)),
			mustGrant(t, l, 2, now, now.Add(time.Hour)),
			mustGrant(t, l, 2, now, now.Add(time.Hour)), // the same worker ID: above the last tick
		}}
		first, second := src.grants[0], src.grants[1]
		g := mustNew(t, core.Config{Worker: src, Now: clock.now, MaxWait: 100 * time.Millisecond})
		var ids []int64
		draw := func(n int) {
			t.Helper()
			block := make([]int64, n)
			if err := g.Fill(t.Context(), block); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, block...)
		}
		draw(1)
		first.Revoke(errors.New("somebody took it"))
		draw(5000)
		if g.Stats().Worker != 2 {
			t.Errorf("worker %d", g.Stats().Worker)
		}
		second.Revoke(nil)
		draw(5000)
		if !slices.IsSorted(ids) || g.Stats().Issued != uint64(len(ids)) {
			t.Errorf("ids do not ascend, or Stats report %d of %d", g.Stats().Issued, len(ids))
		}
		noDuplicates(t, ids)
	})
}

func TestExhaustedGrantIsReplaced(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Twitter()
		now := time.Now()
		src := &source{grants: []*core.Grant{mustGrant(t, l, 1, now, now.Add(5*time.Millisecond)), mustGrant(t, l, 2, now, now.Add(time.Hour))}}
		g := mustNew(t, core.Config{Worker: src, Now: clock.now, MaxWait: 100 * time.Millisecond, ClockPolicy: core.Logical{MaxAhead: time.Minute}})
		ids := make([]int64, 7*4096)
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(ids) {
			t.Error("ids do not ascend")
		}
		noDuplicates(t, ids)
		first, _ := l.Decode(ids[0])
		last, _ := l.Decode(ids[len(ids)-1])
		if first.Worker != 1 || last.Worker != 2 {
			t.Errorf("workers %d and %d", first.Worker, last.Worker)
		}
	})
}
