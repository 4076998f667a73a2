package worker

import (
	"errors"
	"log/slog"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// The kinds of events of a lease. Their core.Event.Duration is how long ids can continue
// without a renewal, and Err the reason, where there is one. A request that fails again
// and again is a warning once, and then has [slog.LevelDebug].
const (
	Claimed          core.EventKind = "worker ID claimed"
	Renewed          core.EventKind = "lease renewed"  // LevelDebug, and LevelInfo after a failure
	RenewFailed      core.EventKind = "renewal failed" // it is repeated within half a second
	Lost             core.EventKind = "worker ID lost" // an error: another holder has it; ids continue for Duration at most
	ClaimFailed      core.EventKind = "claim failed"   // the lease has, or had, Worker, and needs another one
	Released         core.EventKind = "worker ID released"
	ReleaseFailed    core.EventKind = "release failed" // others can claim it after Config.TTL
	Fenced           core.EventKind = "ids stopped"    // an error: ids have reached the fence, and the store fails
	Resumed          core.EventKind = "ids resumed"
	ClockUnconfirmed core.EventKind = "wall clock not confirmed" // it jumped ahead by more than a minute; ids continue on the monotonic clock until the store confirms it
	StoreWarning     core.EventKind = "store warning"            // Err says by which setting
)

// Stats is what a lease has done so far and where it stands.
type Stats struct {
	Namespace    string
	Worker       int64         // datacenter<<WorkerBits | worker
	FencingToken int64         // of the present claim
	Fence        time.Time     // the recorded end of the span
	Left         time.Duration // how long ids can go on without a renewal; 0: they have come to the end
	Renewals     uint64        // acknowledged
	Failures     uint64        // requests that the store did not acknowledge
	Losses       uint64        // numbers lost to others
	Claims       uint64        // numbers claimed, the first included

	State       string        // "held"; "checking" (a wall clock that leapt ahead is compared with the store's); "rotating" (to another worker ID); "lost" (another one is claimed); "releasing"; "ended"
	Failing     error         // what fails at present, a *RetryError; nil when nothing does
	Since       time.Time     // since when it fails; zero when nothing does
	FencedSince time.Time     // since when no id can be issued; zero when ids can
	ClockAhead  time.Duration // by how much the wall clock is ahead of the ids' time, after a leap that the store has not confirmed
}

// Stats takes a snapshot.
func (l *Lease) Stats() Stats {
	if l.unmade() != nil {
		return Stats{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.stats
	h := l.current
	st.Namespace, st.Worker, st.FencingToken = l.cfg.Namespace, h.claim.Worker, h.claim.FencingToken
	st.Fence, st.Left = time.UnixMilli(h.fence), h.left()
	st.State, st.FencedSince = l.state.String(), l.fenced
	if st.Failing = l.failing(); st.Failing != nil {
		var retrying *RetryError
		if errors.As(st.Failing, &retrying) {
			st.Since = retrying.Since
		}
	}
	return st
}

// failing is what fails at present, even if ids still continue.
func (l *Lease) failing() error {
	if err := l.stalled(); err != nil {
		return err
	}
	if l.state < releasing && l.state != held && l.claims.failures > 0 {
		return l.stalledClaim()
	}
	return nil
}

// level is how much an event matters. first reports whether it is news, and not the
// repetition of a failure, or of a success.
func level(kind core.EventKind, first bool) slog.Level {
	switch kind {
	case Lost, Fenced:
		return slog.LevelError
	case Claimed, Released, Resumed:
		return slog.LevelInfo
	case Renewed:
		if first {
			return slog.LevelInfo
		}
		return slog.LevelDebug
	}
	if first {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// notify queues an event for the observer.
func (l *Lease) notify(kind core.EventKind, h *holding, err error, first bool) {
	e := core.Event{Kind: kind, Level: level(kind, first), Namespace: l.cfg.Namespace, Worker: h.claim.Worker, Err: err}
	if h.clock != nil {
		e.Duration = h.left()
	}
	l.events = append(l.events, e)
}

// flush reports the queued events; l.mu is not held.
func (l *Lease) flush() {
	l.mu.Lock()
	events := l.events
	l.events = nil
	l.mu.Unlock()
	for _, e := range events {
		if l.cfg.Observer != nil {
			l.cfg.Observer.Observe(e)
		}
	}
}
