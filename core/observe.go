package core

import (
	"context"
	"log/slog"
	"time"
)

// An Observer is told of rare events, never of ids, and of each kind at most once
// a second where a clock or a caller might make many. It is called by the
// goroutine that met the event, which waits for it: it should be quick, and must
// not call the generator.
type Observer interface {
	Observe(Event)
}

// An Event is something that an operator may want to know of.
type Event struct {
	Kind     EventKind
	Worker   int64         // datacenter<<WorkerBits | worker
	Duration time.Duration // how far, or how long; see the kinds
	Err      error         // why, where there is a reason
}

// EventKind is what has happened.
type EventKind uint8

// The kinds of events.
const (
	ClockStepBack     EventKind = iota + 1 // the wall clock stepped back By
	ClockJump                              // the wall clock leapt ahead By, more than MaxJump; it is not followed yet
	ClockJumpAccepted                      // it has lasted, and is followed
	WaitTimeout                            // a call gave up, Err says at what
	GrantLost                              // the grant was revoked, Err says why
	GrantReplaced                          // another grant is in use, of Worker
	LayoutExpiring                         // the layout's time ends in By, less than five years
)

// String names the kind in words.
func (k EventKind) String() string {
	switch k {
	case ClockStepBack:
		return "clock went back"
	case ClockJump:
		return "clock leapt ahead"
	case ClockJumpAccepted:
		return "leap of the clock followed"
	case WaitTimeout:
		return "waited too long"
	case GrantLost:
		return "worker number lost"
	case GrantReplaced:
		return "worker number replaced"
	case LayoutExpiring:
		return "layout runs out"
	}
	return "unknown event"
}

// LogTo is an Observer that logs each event as a warning, a replaced grant as
// information.
func LogTo(l *slog.Logger) Observer { return logObserver{l} }

type logObserver struct{ log *slog.Logger }

func (o logObserver) Observe(e Event) {
	if o.log == nil {
		return
	}
	level := slog.LevelWarn
	if e.Kind == GrantReplaced {
		level = slog.LevelInfo
	}
	attrs := []slog.Attr{slog.Int64("worker", e.Worker)}
	if e.Duration != 0 {
		attrs = append(attrs, slog.Duration("by", e.Duration))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("err", e.Err))
	}
	o.log.LogAttrs(context.Background(), level, "snowkey: "+e.Kind.String(), attrs...)
}

const expirySoon = 5 * 365 * 24 * time.Hour

// observe tells the observer, if there is one.
func (g *Generator) observe(kind EventKind, by time.Duration, err error) {
	if g.observer == nil || !g.mayTell(kind) {
		return
	}
	var worker int64
	if r := g.run.Load(); r != nil {
		worker = r.grant.worker
	}
	g.observer.Observe(Event{Kind: kind, Worker: worker, Duration: by, Err: err})
}

// mayTell keeps a clock that jumps to and fro, or callers that give up over and
// over, from flooding the observer. Losses and replacements are all told.
func (g *Generator) mayTell(kind EventKind) bool {
	if kind == GrantLost || kind == GrantReplaced || kind == LayoutExpiring {
		return true
	}
	now := int64(time.Since(g.clock.start))
	told := g.told[kind].Load()
	return now >= told && g.told[kind].CompareAndSwap(told, now+int64(time.Second))
}
