package worker

import (
	"context"
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
	Kind   EventKind
	Space  string
	Worker int64
	Left   time.Duration // how long ids can go on without a renewal
	Err    error         // why, where there is a reason
}

// EventKind is what has happened.
type EventKind uint8

// The kinds of events.
const (
	Claimed     EventKind = iota + 1 // a number was claimed
	Renewed                          // its span was extended
	RenewFailed                      // the store failed; it is tried again within half a second
	Lost                             // the number is another's; ids go on for Left at most
	ClaimFailed                      // no other number could be had yet, Err says why
	Released                         // the number was given back
	NotReleased                      // it could not be; it comes free when its time to live is over
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
	case NotReleased:
		return "number not released"
	}
	return "unknown event"
}

// Stats is what a lease has done so far and where it stands.
type Stats struct {
	Space    string
	Worker   int64         // datacenter<<WorkerBits | worker
	Epoch    int64         // of the present claim
	Until    time.Time     // the recorded end of the span
	Left     time.Duration // how long ids can go on without a renewal; 0: they have come to the end
	Renewals uint64        // acknowledged
	Failures uint64        // requests that the store did not acknowledge
	Losses   uint64        // numbers lost to others
	Claims   uint64        // numbers claimed, the first included
	Failing  error         // why the last renewal failed; nil when it did not
}

// Stats takes a snapshot.
func (l *Lease) Stats() Stats {
	if l.unmade() != nil {
		return Stats{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.stats
	h := l.cur
	st.Space, st.Worker, st.Epoch = l.cfg.Space, h.claim.Worker, h.claim.Epoch
	st.Until, st.Left, st.Failing = time.UnixMilli(h.until), h.left(), h.failing
	return st
}

// tell tells the observer and the log; l.mu is not held.
func (l *Lease) tell(kind EventKind, h *holding, err error) {
	e := Event{Kind: kind, Space: l.cfg.Space, Worker: h.claim.Worker, Err: err}
	l.mu.Lock()
	e.Left = h.left()
	before := h.told
	h.told = kind
	l.mu.Unlock()
	if l.cfg.Observer != nil {
		l.cfg.Observer.Observe(e)
	}
	if l.cfg.Logger == nil || kind == before { // a store that fails for minutes is one line
		return
	}
	level := slog.LevelWarn
	switch kind {
	case Claimed, Released:
		level = slog.LevelInfo
	case Renewed:
		if level = slog.LevelDebug; before == RenewFailed {
			level = slog.LevelInfo
		}
	case Lost:
		level = slog.LevelError
	}
	attrs := []slog.Attr{slog.String("space", e.Space), slog.Int64("worker", e.Worker), slog.Duration("left", e.Left)}
	if err != nil {
		attrs = append(attrs, slog.Any("err", err))
	}
	l.cfg.Logger.LogAttrs(context.Background(), level, "snowkey: "+kind.String(), attrs...)
}
