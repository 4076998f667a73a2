package core

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// An Observer receives rare events of generators and leases, never of single ids. A
// generator reports each kind that a clock or a caller might repeat at most once a second.
// Observe is called by the goroutine that met the event, which waits for it: it should
// return quickly, and must not call the generator or the lease.
type Observer interface {
	Observe(Event)
}

// An Event is something that an operator may want to know. Package worker has further
// kinds, those of leases.
type Event struct {
	Kind      EventKind
	Level     slog.Level    // how much it matters: [LogTo] logs it at this level
	Namespace string        // of the lease; empty for an event of a generator
	Worker    int64         // datacenter<<WorkerBits | worker
	Duration  time.Duration // see the kinds
	Err       error         // the reason, where there is one
}

// An EventKind says what happened, in a few words.
type EventKind string

// The kinds of events of a generator. All are warnings, except GrantReplaced.
const (
	ClockStepBack     EventKind = "wall clock stepped back"   // by Duration
	ClockJump         EventKind = "wall clock jumped ahead"   // by Duration, which is more than MaxJump; it is ignored for now
	ClockJumpAccepted EventKind = "wall clock jump accepted"  // the jump, of Duration, has persisted
	WaitTimeout       EventKind = "gave up waiting for an id" // Err says what the call waited for
	GrantLost         EventKind = "grant lost"                // it was revoked; Err says why
	GrantReplaced     EventKind = "grant replaced"            // ids now carry Worker
	LayoutExpiring    EventKind = "layout's time ends soon"   // in Duration, less than five years
)

// LogTo returns an Observer that logs each event at its level. A nil logger logs nothing.
func LogTo(l *slog.Logger) Observer { return logObserver{l} }

type logObserver struct{ log *slog.Logger }

func (o logObserver) Observe(e Event) {
	if o.log == nil {
		return
	}
	attrs := []slog.Attr{slog.Int64("worker", e.Worker)}
	if e.Namespace != "" {
		attrs = append(attrs, slog.String("namespace", e.Namespace))
	}
	if e.Duration != 0 {
		attrs = append(attrs, slog.Duration("duration", e.Duration))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("err", e.Err))
	}
	o.log.LogAttrs(context.Background(), e.Level, "snowkey: "+string(e.Kind), attrs...)
}

const expirySoon = 5 * 365 * 24 * time.Hour

// observe reports an event to the observer, if there is one.
func (g *Generator) observe(kind EventKind, duration time.Duration, err error) {
	if g.observer == nil || !g.mayReport(kind) {
		return
	}
	e := Event{Kind: kind, Level: slog.LevelWarn, Duration: duration, Err: err}
	if kind == GrantReplaced {
		e.Level = slog.LevelInfo
	}
	if r := g.run.Load(); r != nil {
		e.Worker = r.grant.worker
	}
	g.observer.Observe(e)
}

// mayReport keeps a clock that jumps to and fro, or callers that give up over and over,
// from flooding the observer.
func (g *Generator) mayReport(kind EventKind) bool {
	var next *atomic.Int64
	switch kind {
	case ClockStepBack:
		next = &g.nextReport[0]
	case ClockJump:
		next = &g.nextReport[1]
	case ClockJumpAccepted:
		next = &g.nextReport[2]
	case WaitTimeout:
		next = &g.nextReport[3]
	default:
		return true
	}
	now := int64(time.Since(g.clock.start))
	at := next.Load()
	return now >= at && next.CompareAndSwap(at, now+int64(time.Second))
}
