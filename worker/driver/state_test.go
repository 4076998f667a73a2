package driver

import (
	"errors"
	"testing"
)

// A worker ID is held until the clock is more than MaxSkew past its fence.
func TestHeldAtTheFence(t *testing.T) {
	s := State{Namespace: Namespace{Name: "n", Layout: "l", FenceWindow: 30, MaxSkew: 10, Seen: 1, Version: Version}, Count: 1}
	for _, status := range []Status{Held, Freed} {
		s.Records = []Record{{ClaimID: "first", FencingToken: 1, Start: 1, Fence: 100, Status: status}}
		for now, held := range map[int64]bool{100: true, 110: true, 111: false} {
			s.Now = now
			c := Claim{Namespace: "n", Layout: "l", WorkerIDs: 1, Preferred: -1, Exclude: -1, ClaimID: "second", Now: now, FenceWindow: 30, MaxSkew: 10}
			ch, err := c.Decide(s)
			if s.Records[0].IsHeld(now, 10) != held || errors.Is(err, ErrNoWorkerID) != held || !held && ch.Lease.Start < 100 {
				t.Errorf("%s, at %d: %+v, %v", status, now, ch.Lease, err)
			}
		}
	}
}

// A window that is changed keeps a MaxSkew that is a third of it, and every other one that it allows.
func TestRaisedWindow(t *testing.T) {
	for _, c := range []struct{ window, skew, raised, want int64 }{
		{30_000, 10_000, 60_000, 20_000}, {30_000, 10_000, 6_000, 2_000}, {30_000, 12_000, 60_000, 12_000},
		{30_000, 12_000, 24_000, 12_000}, {30_000, 12_000, 23_999, 7_999}, {30_000, 12_000, 0, 12_000},
	} {
		s := State{Now: 1, Namespace: Namespace{Name: "n", Layout: "l", FenceWindow: c.window, MaxSkew: c.skew, Version: Version}}
		ch, err := s.Raise(c.raised)
		if err != nil || ch.Namespace.MaxSkew != c.want {
			t.Errorf("%+v: %+v, %v", c, ch.Namespace, err)
		}
	}
}
