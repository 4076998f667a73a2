package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// An Observer is told what happens to a lease. It is called by the goroutine that
// met the event, which waits for it: it should be quick, and must not call the lease.
type Observer interface {
	Observe(Event)
}

// An Event is something that happened to a lease.
type Event struct {
	Kind      EventKind
	Namespace string
	Worker    int64
	Duration  time.Duration // how long ids can go on without a renewal
	Err       error         // why, where there is a reason
}

// EventKind is what has happened.
type EventKind uint8

// The kinds of events.
const (
	Claimed          EventKind = iota + 1 // a number was claimed
	Renewed                               // its span was extended
	RenewFailed                           // the store failed; it is tried again within half a second
	Lost                                  // the number is another's; ids go on for Left at most
	ClaimFailed                           // no other number could be had yet, Err says why
	Released                              // the number was given back
	ReleaseFailed                         // it could not be; it comes free when its time to live is over
	Fenced                                // no id can be issued: ids have reached the fence, and the store fails
	Resumed                               // ids can be issued again
	ClockUnconfirmed                      // the wall clock leapt ahead by more than a minute; ids continue on the monotonic clock until the store confirms it
)

// String names the kind in words.
func (k EventKind) String() string {
	switch k {
	case Claimed:
		return "number claimed"
	case Renewed:
		return "lease renewed"
	case RenewFailed:
		return "renewal failed"
	case Lost:
		return "number lost"
	case ClaimFailed:
		return "no other number yet"
	case Released:
		return "number released"
	case ReleaseFailed:
		return "number not released"
	case Fenced:
		return "ids stopped"
	case Resumed:
		return "ids resumed"
	case ClockUnconfirmed:
		return "wall clock leapt ahead"
	}
	return "unknown event"
}

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

// A notice is an event that has not been reported yet.
type notice struct {
	Event
	log bool
}

// notify queues an event for the observer, and, if it is news, for the log. So a store that
// fails for minutes makes one line.
func (l *Lease) notify(kind EventKind, h *holding, err error, news bool) {
	e := Event{Kind: kind, Namespace: l.cfg.Namespace, Worker: h.claim.Worker, Err: err}
	if h.clock != nil {
		e.Duration = h.left()
	}
	l.notices = append(l.notices, notice{e, news})
}

// flush reports the events; l.mu is not held.
func (l *Lease) flush() {
	l.mu.Lock()
	notices := l.notices
	l.notices = nil
	l.mu.Unlock()
	for _, n := range notices {
		if l.cfg.Observer != nil {
			l.cfg.Observer.Observe(n.Event)
		}
		if l.cfg.Logger != nil {
			l.log(n)
		}
	}
}

func (l *Lease) log(n notice) {
	level := slog.LevelWarn
	switch n.Kind {
	case Claimed, Released, Resumed:
		level = slog.LevelInfo
	case Renewed:
		if level = slog.LevelDebug; n.log { // after failures
			level = slog.LevelInfo
		}
	case Lost, Fenced:
		level = slog.LevelError
	case RenewFailed, ClaimFailed:
		if !n.log {
			return
		}
	}
	attrs := []slog.Attr{slog.String("space", n.Namespace), slog.Int64("worker", n.Worker), slog.Duration("left", n.Duration)}
	if n.Err != nil {
		attrs = append(attrs, slog.Any("err", n.Err))
	}
	l.cfg.Logger.LogAttrs(context.Background(), level, "snowkey: "+n.Kind.String(), attrs...)
}
