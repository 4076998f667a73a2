package core

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// An Observer receives rare events of generators and leases, never of single ids. A
// generator reports each kind that a clock or a caller might repeat at most once a second.
// The goroutine that met the event calls Observe and waits for it, so Observe should return
// quickly, and must not call the generator or the lease.
type Observer interface {
	Observe(Event)
}

// An Event is something that an operator may want to know. Package worker defines the kinds
// of events of leases.
type Event struct {
	Kind      EventKind
	Level     slog.Level    // the severity; [LogTo] logs the event at this level
	Namespace string        // of the lease; empty without one
	Worker    int64         // datacenter<<WorkerBits | worker
	Duration  time.Duration // see the kinds
	Elapsed   time.Duration // how long the request to the lease's store took; 0: the event is not of a request
	Err       error         // the reason, if there is one
}

// An EventKind is a short name of what happened, such as "clock_step_back". [LogTo] logs it with spaces.
type EventKind string

// The kinds of events of a generator. All are warnings, except GrantReplaced. Package worker has those of leases.
const (
	ClockStepBack     EventKind = "clock_step_back"     // by Duration
	ClockJump         EventKind = "clock_jump"          // by Duration, which is more than MaxJump; it is ignored for now
	ClockJumpAccepted EventKind = "clock_jump_accepted" // the jump, of Duration, has persisted
	WaitTimeout       EventKind = "wait_timeout"        // Err says what the call waited for
	GrantLost         EventKind = "grant_lost"          // it was revoked; Err says why
	GrantReplaced     EventKind = "grant_replaced"      // ids now carry Worker
	CounterRejected   EventKind = "counter_rejected"    // it is wrong by Duration, or the machine has another clock (0); every id reads the clock from now on
	LayoutExpiring    EventKind = "layout_expiring"     // in Duration, less than five years
)

const expiresSoon = 5 * 365 * 24 * time.Hour

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
		attrs = append(attrs, slog.String("duration", e.Duration.String())) // in JSON, a slog.Duration is a number of nanoseconds
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("err", e.Err))
	}
	o.log.LogAttrs(context.Background(), e.Level, "snowkey: "+strings.ReplaceAll(string(e.Kind), "_", " "), attrs...)
}

// reporter has a generator's Observer, and decides which events it receives.
type reporter struct {
	observer Observer // nil: none
	start    time.Time
	next     [4]atomic.Int64 // of each limited kind, the nanoseconds after start until which it stays silent
}

// due reports whether an event of this kind is to be reported now. It limits the kinds that
// an unsteady clock, or callers that give up again and again, would repeat.
func (r *reporter) due(kind EventKind) bool {
	if r.observer == nil {
		return false
	}
	i := slices.Index([]EventKind{ClockStepBack, ClockJump, ClockJumpAccepted, WaitTimeout}, kind)
	if i < 0 {
		return true
	}
	now, next := int64(time.Since(r.start)), r.next[i].Load()
	return now >= next && r.next[i].CompareAndSwap(next, now+int64(time.Second))
}

// observe reports an event to the Observer, if there is one.
func (g *Generator) observe(kind EventKind, d time.Duration, err error) {
	if !g.reporter.due(kind) {
		return
	}
	e := Event{Kind: kind, Level: slog.LevelWarn, Duration: d, Err: err}
	if kind == GrantReplaced {
		e.Level = slog.LevelInfo
	}
	if a := g.current.Load(); a != nil {
		e.Worker = a.grant.worker
	}
	g.reporter.observer.Observe(e)
}
