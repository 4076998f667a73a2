package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Errors to test for with errors.Is. Next and Fill wrap them in an error that says what the
// call waited for, and for how long.
var (
	// ErrSequenceExhausted means that all ids are issued, or reserved for calls that came
	// earlier, up to a tick that does not begin within Config.MaxWait.
	ErrSequenceExhausted = errors.New("core: sequence exhausted")
	// ErrFenced means that ids have reached the fence of their grant, and that the fence was
	// not raised within Config.MaxWait or cannot be raised at present.
	ErrFenced = errors.New("core: fence reached")
	// ErrLost means that the grant was revoked or closed.
	ErrLost = errors.New("core: worker ID lost")
	// ErrInUse means that another generator has the grant.
	ErrInUse = errors.New("core: grant is in use by another generator")
	// ErrClosed means that the generator was closed.
	ErrClosed = errors.New("core: generator is closed")
	// ErrTimestampExhausted means that the present no longer fits the layout's time field.
	ErrTimestampExhausted = errors.New("core: the layout's time has run out")
)

// A FieldError says what is wrong with one field.
type FieldError struct {
	Field  string // for example "Layout.Tick"
	Value  string // the rejected value, for example "1.5ms"
	Reason string // what is expected
}

func (f FieldError) String() string { return f.Field + " " + f.Value + ": " + f.Reason }

// ConfigError is returned by New, NewGrant and Layout.Validate. It lists all invalid fields.
// The module's other packages return it as well.
type ConfigError struct {
	Package string // whose configuration is invalid, for example "core"
	Fields  []FieldError
}

func (e *ConfigError) Error() string {
	all := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		all[i] = f.String()
	}
	return e.Package + ": " + strings.Join(all, "; ")
}

// configError returns a ConfigError, or nil if there are no field errors.
func configError(fields ...FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &ConfigError{Package: "core", Fields: fields}
}

// RangeError is returned by Compose, Decode, FirstAt and Range for a value that does not fit
// the layout.
type RangeError struct {
	Field string // for example "Worker"
	Value string // the rejected value
	Limit string // what fits
}

func (e *RangeError) Error() string {
	return "core: " + e.Field + " " + e.Value + " is outside the layout: " + e.Limit
}

// ClockError means that the clock is behind the last id, or behind Config.NotBefore, by more
// than the generator waits for or tolerates.
type ClockError struct {
	Back      time.Duration // how far the clock is behind
	Tolerated time.Duration // how far it may be behind
	NotBefore time.Time     // what it is behind, because of Config.NotBefore; zero: the last id
}

func (e *ClockError) Error() string {
	if !e.NotBefore.IsZero() {
		return fmt.Sprintf("core: ids begin at %s, because of NotBefore: the clock is %v behind that, and calls wait at most %v", formatTime(e.NotBefore), e.Back, e.Tolerated)
	}
	return fmt.Sprintf("core: the clock is %v behind the last id, %v is tolerated", e.Back, e.Tolerated)
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// An Observer receives rare events of generators and leases, never of single ids. A
// generator reports each kind that a clock or a caller might repeat at most once a second.
// The goroutine that met the event calls Observe and waits for it, so Observe should return
// quickly, and must not call the generator, except Close at an event of a lease.
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

// Stats is a snapshot of a generator's counters and limits.
type Stats struct {
	Issued          uint64        // ids taken, including those of a cancelled Fill; not slots that a waiting call has reserved
	Waited          uint64        // calls that had to wait
	Exhausted       uint64        // calls among them that waited because a tick was full
	StepsBack       uint64        // steps back of the wall clock; those under 1ms are not noticed
	LargestStepBack time.Duration // the largest of them
	Ahead           time.Duration // how far the last id's time is ahead of the wall clock; 0 if it is not
	Worker          int64         // datacenter<<WorkerBits | worker
	HasFence        bool          // whether the grant has a fence
	FenceLeft       time.Duration // until the wall clock reaches the fence; 0 if it has, or there is none
	CounterTrusted  bool          // whether the processor's counter is trusted, so that ids within a tick need no clock
	LayoutLeft      time.Duration // until the layout's time runs out, at most 292 years
}

// Stats returns a snapshot. It costs the generator nothing: the number of ids follows from the
// cursor and what it has skipped. A zero Generator has zero Stats.
func (g *Generator) Stats() Stats {
	if g.current.Load() == nil {
		return Stats{}
	}
	g.mu.Lock() // so that the allocator is not replaced meanwhile
	a := g.current.Load()
	issued := g.passed + a.slotsPassed() // before skipped, which rises before the cursor does: so Issued is never too high
	g.mu.Unlock()
	issued -= min(g.counters.skipped.Load(), issued)
	st := Stats{
		Issued:          g.counters.raiseIssued(issued),
		Waited:          g.counters.waited.Load(),
		Exhausted:       g.counters.exhausted.Load(),
		StepsBack:       g.counters.stepsBack.Load(),
		LargestStepBack: time.Duration(g.counters.largestStepBack.Load()),
		Worker:          a.grant.worker,
		HasFence:        a.grant.hasFence,
		CounterTrusted:  g.clock.counter.trusted.Load(),
	}
	now := min(g.clock.tickAt(g.clock.read().wall), g.layout.tickMax)
	wall := a.layout.startOf(now)
	if p := a.position(0); p.issued && p.lastIssued > now {
		st.Ahead = a.layout.startOf(p.lastIssued).Sub(wall)
	}
	if fence := a.grant.fence.Load(); st.HasFence && fence > now {
		st.FenceLeft = a.layout.startOf(fence).Sub(wall)
	}
	st.LayoutLeft = max(g.layout.end.Sub(wall), 0)
	return st
}

// counters are what a generator counts for its Stats.
type counters struct {
	waited, exhausted, stepsBack atomic.Uint64
	largestStepBack              atomic.Int64
	issued                       atomic.Uint64 // the greatest Issued so far
	_                            [64]byte      // the fast path writes what follows
	skipped                      atomic.Uint64 // slots passed over
	_                            [56]byte
}

func (c *counters) addStepBack(d time.Duration) {
	c.stepsBack.Add(1)
	for {
		largest := c.largestStepBack.Load()
		if int64(d) <= largest || c.largestStepBack.CompareAndSwap(largest, int64(d)) {
			return
		}
	}
}

// raiseIssued returns the greatest count so far: a swap that is about to fail makes the
// computed one too low for a moment.
func (c *counters) raiseIssued(issued uint64) uint64 {
	for {
		before := c.issued.Load()
		if issued <= before {
			return before
		}
		if c.issued.CompareAndSwap(before, issued) {
			return issued
		}
	}
}

// A Metric is one figure of a generator, for programs that export it. Its name and its unit follow
// the conventions of OpenTelemetry.
type Metric struct {
	Name    string // such as "snowkey.ids.issued"
	Help    string
	Unit    string // such as "s" or "{id}"; empty: none. Only values in seconds have fractions.
	Counter bool   // it never falls; otherwise it is a gauge
	Value   float64
	Labels  map[string]string // such as "snowkey.namespace": "orders"; nil: none. Do not change it.
}

// Metrics returns the figures of [Generator.Stats] at present, always in the same order. A
// generator without a fence has no "snowkey.fence.left". There are none for nil and for a zero
// Generator.
func (g *Generator) Metrics() []Metric {
	if g == nil || g.current.Load() == nil {
		return nil
	}
	st := g.Stats()
	trusted := 0.0
	if st.CounterTrusted {
		trusted = 1
	}
	list := []Metric{
		{Name: "snowkey.ids.issued", Unit: "{id}", Counter: true, Value: float64(st.Issued),
			Help: "Ids taken from the generator, including those of a cancelled Fill."},
		{Name: "snowkey.calls.waited", Unit: "{call}", Counter: true, Value: float64(st.Waited),
			Help: "Calls of Next and Fill that had to wait."},
		{Name: "snowkey.calls.exhausted", Unit: "{call}", Counter: true, Value: float64(st.Exhausted),
			Help: "Calls that had to wait because all ids of a tick were issued."},
		{Name: "snowkey.clock.steps_back", Unit: "{step}", Counter: true, Value: float64(st.StepsBack),
			Help: "Steps back of the wall clock by a millisecond or more."},
		{Name: "snowkey.clock.largest_step_back", Unit: "s", Value: st.LargestStepBack.Seconds(),
			Help: "The largest step back of the wall clock since the generator was made."},
		{Name: "snowkey.ids.ahead", Unit: "s", Value: st.Ahead.Seconds(),
			Help: "How far the time of the last id is ahead of the wall clock; 0 if it is not."},
		{Name: "snowkey.layout.left", Unit: "s", Value: st.LayoutLeft.Seconds(),
			Help: "How long until the time of the layout runs out, at most 292 years."},
		{Name: "snowkey.cpu_counter.trusted", Value: trusted,
			Help: "1 if the processor's counter is trusted, 0 if every id reads the clock."},
		{Name: "snowkey.worker.id", Value: float64(st.Worker),
			Help: "The worker ID that ids carry: datacenter<<WorkerBits | worker."},
	}
	if st.HasFence {
		list = append(list, Metric{Name: "snowkey.fence.left", Unit: "s", Value: st.FenceLeft.Seconds(),
			Help: "How long ids can continue without a renewal; 0 if they have reached the fence, or the lease was released."})
	}
	return list
}
