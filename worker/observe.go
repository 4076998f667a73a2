package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The kinds of events of a lease. In their core.Event, Duration is how long ids can continue
// without a renewal, Err is the reason, if there is one, and Elapsed is how long the store took for
// the request that caused the event.
//
// Lost, Forgotten and Fenced have [slog.LevelError]; Claimed, Renewed, Released, Resumed and
// FloorRaised [slog.LevelInfo]; the others [slog.LevelWarn]. Repeated failures, and renewals that
// do not follow a failure, have [slog.LevelDebug].
const (
	Claimed       core.EventKind = "claimed"
	Renewed       core.EventKind = "renewed"
	RenewFailed   core.EventKind = "renew_failed" // it is retried within half a second
	Lost          core.EventKind = "lost"         // another holder has it; ids continue for Duration at most
	Forgotten     core.EventKind = "forgotten"    // like Lost, but because the store was put back to an earlier state
	ClaimFailed   core.EventKind = "claim_failed" // the lease has, or had, Worker, and needs another one
	Released      core.EventKind = "released"
	ReleaseFailed core.EventKind = "release_failed" // others can claim it when its fence has passed
	Fenced        core.EventKind = "fenced"         // ids have reached the fence, and the store fails
	Resumed       core.EventKind = "resumed"
	// FloorRaised says that another server answers, or the same one after a crash. It may have
	// forgotten, so new claims start ahead of the clock. Worker is -1 before the first claim.
	FloorRaised core.EventKind = "floor_raised"
)

// Stats is a snapshot of a generator and its lease: what they have done, and their present state. Here
// Stats.FenceLeft is how long ids can continue without a renewal, also when the clock has leapt; 0: they
// have reached the fence, or the generator was closed.
type Stats struct {
	core.Stats

	Namespace    string
	FencingToken int64     // of the present claim
	Fence        time.Time // no id carries this instant or a later one, until a renewal raises it
	Renewals     uint64    // acknowledged
	Failures     uint64    // requests that the store refused or did not answer
	Losses       uint64    // worker IDs lost to others
	Forgotten    uint64    // of these, how many because the store was put back to an earlier state
	Claims       uint64    // worker IDs claimed, the first included

	State       string    // "held"; "rotating", "blocked" or "lost", while another worker ID is claimed; "releasing"; "ended"
	Failing     error     // what fails at present, a *RetryError; nil when nothing does
	Since       time.Time // since when it fails; zero when nothing does
	FencedSince time.Time // since when no id can be issued; zero when ids can
}

// Stats returns a snapshot of the lease. The only figure of the generator in it is the worker ID.
func (l *lease) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.current
	st := l.stats
	st.Namespace, st.Worker, st.FencingToken, st.State = l.cfg.Namespace, h.Worker, h.FencingToken, l.state.String()
	st.Fence, st.FenceLeft = time.UnixMilli(h.Fence), l.left(h)
	st.Failing = l.failing()
	var retrying *RetryError
	if errors.As(st.Failing, &retrying) {
		st.Since = retrying.Since
	}
	return st
}

// left returns how long ids can continue with a worker ID: 0 if the lease was released or the
// generator was closed, and until the fence if the worker ID was lost.
func (l *lease) left(h *holding) time.Duration {
	if l.state >= releasing {
		return 0
	}
	left := h.leftThen - time.Since(h.renewed)
	if d := l.untilFence(h.Fence); d > 0 { // otherwise the wall clock may have leapt
		left = min(left, d)
	}
	return max(left, 0)
}

// untilFence returns how long it takes until the wall clock shows the fence. It returns FenceWindow
// if the fence is further ahead than a renewal sets it: either ids began at a floor that is ahead, or
// the wall clock has stepped back, and ids do not follow it.
func (l *lease) untilFence(fence int64) time.Duration {
	d := time.UnixMilli(fence).Sub(l.cfg.Now())
	if d > l.cfg.FenceWindow+l.cfg.MaxSkew {
		d = l.cfg.FenceWindow
	}
	return max(d, 0)
}

// failing returns what fails at present, even if ids still continue; nil: nothing does.
func (l *lease) failing() error {
	if l.state >= releasing {
		return nil
	}
	if err := l.stalled(); err != nil || l.state == held {
		return err
	}
	return l.retryError("claim", l.claiming.retry)
}

// stalled returns why the fence does not rise at present; nil: no request has failed.
func (l *lease) stalled() error {
	if l.state == lost {
		return l.retryError("claim", l.claiming.retry)
	}
	return l.retryError("renew", l.current.retry)
}

// retryError returns a *RetryError, or nil if the last attempt at a request has not failed.
func (l *lease) retryError(op string, r retry) error {
	if r.failures == 0 {
		return nil
	}
	return &RetryError{Op: op, Namespace: l.cfg.Namespace, Worker: l.current.Worker, Failures: r.failures, Since: r.since, Err: r.err}
}

// reports queues events for the observer.
type reports struct {
	events  []core.Event  // not reported yet
	busy    chan struct{} // holds a value while events are reported
	elapsed time.Duration // of the call whose outcome is being handled; 0: none
	raised  bool          // FloorRaised was reported, and no request has succeeded since
}

// notify queues an event for the observer. first is false if the event only repeats a failure or a
// success.
func (l *lease) notify(kind core.EventKind, h *holding, err error, first bool) {
	level := slog.LevelWarn
	switch {
	case kind == Lost, kind == Forgotten, kind == Fenced:
		level = slog.LevelError
	case !first:
		level = slog.LevelDebug
	case kind == Claimed, kind == Renewed, kind == Released, kind == Resumed, kind == FloorRaised:
		level = slog.LevelInfo
	}
	e := core.Event{Kind: kind, Level: level, Namespace: l.cfg.Namespace, Worker: noWorkerID, Elapsed: l.reports.elapsed, Err: err}
	if h != nil {
		e.Worker = h.Worker
		if h.lost != nil || !isDone(h.grant) {
			e.Duration = l.left(h)
		}
	}
	l.reports.events = append(l.reports.events, e)
}

// notifyFloorRaised reports that the store has raised the floor, but only once until a request succeeds:
// while answers are lost, each request may raise it.
func (l *lease) notifyFloorRaised(got driver.Lease, err error) {
	if got.FloorRaised && !l.reports.raised {
		l.notify(FloorRaised, l.current, nil, true)
	}
	l.reports.raised = err != nil && (got.FloorRaised || l.reports.raised)
}

// flushWithin is like flush, but waits only until ctx is done, and at most observerGrace: the
// observer may itself be closing the generator, or may not return.
func (l *lease) flushWithin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, observerGrace)
	defer cancel()
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		l.flush()
	}()
	select {
	case <-flushed:
	case <-ctx.Done():
	}
}

const observerGrace = time.Second

// flush reports the queued events in order. l.mu must not be held. When flush returns, the events
// that another goroutine was reporting are reported, too.
func (l *lease) flush() {
	l.reports.busy <- struct{}{}
	defer func() { <-l.reports.busy }()
	l.mu.Lock()
	events := l.reports.events
	l.reports.events = nil
	l.mu.Unlock()
	for _, e := range events {
		if l.cfg.Observer != nil {
			l.cfg.Observer.Observe(e)
		}
	}
}

// Metrics returns the figures of [Generator.Stats] as metrics, always in the same order. Packages
// snowprom and snowotel export them. All have the label "snowkey.namespace". There is one
// "snowkey.lease.state" for each state, with the state's name in a label: 1 for the present state,
// 0 for the others. Metrics returns nil for a Generator that does not come from Open.
func (g *Generator) Metrics() []core.Metric {
	if !g.opened() {
		return nil
	}
	list, st := g.ids.Metrics(), g.lease.Stats()
	for i := range list {
		if list[i].Name == "snowkey.fence.left" {
			list[i].Value = st.FenceLeft.Seconds() // the lease knows about jumps of the clock
		}
	}
	list = append(list,
		core.Metric{Name: "snowkey.lease.claims", Unit: "{claim}", Counter: true, Value: float64(st.Claims),
			Help: "Worker IDs claimed, the first included."},
		core.Metric{Name: "snowkey.lease.renewals", Unit: "{renewal}", Counter: true, Value: float64(st.Renewals),
			Help: "Renewals that the store has acknowledged."},
		core.Metric{Name: "snowkey.lease.losses", Unit: "{loss}", Counter: true, Value: float64(st.Losses),
			Help: "Worker IDs lost to other holders."},
		core.Metric{Name: "snowkey.lease.forgotten", Unit: "{loss}", Counter: true, Value: float64(st.Forgotten),
			Help: "Worker IDs lost because the store was put back to an earlier state."},
		core.Metric{Name: "snowkey.lease.failures", Unit: "{request}", Counter: true, Value: float64(st.Failures),
			Help: "Requests that the store refused or did not answer."},
		core.Metric{Name: "snowkey.lease.failing", Unit: "s", Value: secondsSince(st.Since),
			Help: "For how long requests to the store have been failing; 0 if the last one did not."},
		core.Metric{Name: "snowkey.lease.fenced", Unit: "s", Value: secondsSince(st.FencedSince),
			Help: "For how long no id could be issued; 0 while ids can."},
	)
	labels := map[string]string{"snowkey.namespace": st.Namespace}
	for i := range list {
		list[i].Labels = labels
	}
	for s := held; s <= ended; s++ {
		m := core.Metric{Name: "snowkey.lease.state", Help: "1 for the state of the lease, 0 for the others.",
			Labels: map[string]string{"snowkey.namespace": st.Namespace, "snowkey.lease.state": s.String()}}
		if s.String() == st.State {
			m.Value = 1
		}
		list = append(list, m)
	}
	return list
}

// secondsSince returns 0 for the zero time. Otherwise it returns at least a nanosecond, however
// coarse the clock is.
func secondsSince(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(time.Since(t), 1).Seconds()
}
