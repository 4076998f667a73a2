package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// A Number is a worker number that something outside this process has assigned:
// what FromEnv, FromFile, FromOrdinal, FromPodIP and FromCounter give. By itself
// it is a [core.Fixed], with what is said there about restarts; [Protect] adds a
// durable bound.
type Number struct {
	number int64
	origin string
	left   int64
	fixed  core.GrantSource
}

var _ core.GrantSource = (*Number)(nil)

func newNumber(number int64, origin string) *Number {
	return &Number{number: number, origin: origin, fixed: core.Fixed(number)}
}

// Number is datacenter<<WorkerBits | worker; of nil it is −1.
func (n *Number) Number() int64 {
	if n == nil {
		return -1
	}
	return n.number
}

// Left is, for a number of FromCounter, how many more the counter has to give.
func (n *Number) Left() int64 {
	if n == nil {
		return 0
	}
	return n.left
}

// String says the number and where it comes from.
func (n *Number) String() string {
	if n == nil {
		return "none"
	}
	return fmt.Sprintf("%d (%s)", n.number, n.origin)
}

// Grant implements core.GrantSource.
func (n *Number) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	if n == nil || n.fixed == nil {
		return nil, configError([]core.FieldError{{Field: "Number", Value: "nil or zero", Reason: "must come from FromEnv, FromFile, FromOrdinal, FromPodIP or FromCounter"}})
	}
	g, err := n.fixed.Grant(ctx, prev)
	if err != nil {
		return nil, fmt.Errorf("worker: number %s: %w", n, err)
	}
	return g, nil
}

// Protect holds a number that was assigned from outside, by [core.Fixed] or one of this
// package's sources, under a lease of exactly that number. Then neither a restart with a
// clock that went back, nor a second process with the same number, can issue an
// id again: the second gets a *NoWorkerIDError. On one host a filestore does for it:
//
//	n, err := worker.FromEnv(layout, "WORKER", "DATACENTER")
//	…
//	lease, err := worker.Protect(ctx, filestore.New(filestore.Config{Dir: dir}), n, worker.Config{Layout: layout})
//
// A file protects against what happens on its own host only, and has the number
// free for the next start at once. In a database it comes free after a crash when
// Config.TTL is over: let Config.MaxWait be longer. Preferred and Only of the
// configuration are replaced.
func Protect(ctx context.Context, s driver.Store, w core.GrantSource, cfg Config) (*Lease, error) {
	numbered, ok := w.(interface{ Number() int64 })
	if own, is := w.(*Number); is && (own == nil || own.fixed == nil) { // a zero one has been assigned by nobody
		ok = false
	}
	if !ok || isNil(w) {
		return nil, configError([]core.FieldError{{Field: "Worker", Value: fmt.Sprintf("%T", w), Reason: "must come from core.Fixed, FromEnv, FromFile, FromOrdinal, FromPodIP or FromCounter; for another number set Config.Preferred and Config.RequirePreferred"}})
	}
	n := numbered.Number()
	if n < 0 { // it is not PreferZero
		return nil, configError([]core.FieldError{{Field: "Worker", Value: fmt.Sprint(n), Reason: "must not be negative"}})
	}
	cfg.Preferred, cfg.RequirePreferred = Prefer(n), true
	return Acquire(ctx, s, cfg)
}

// FromPool takes a number out of a pool and puts it back at Release or Close. It
// is a lease without a time to live: what a crash, or a claim whose answer never
// came, leaves behind stays taken until it is listed and freed by the store's [Admin], which cannot make a duplicate
// even if the holder is alive after all.
func FromPool(ctx context.Context, s driver.Store, cfg Config) (*Lease, error) {
	cfg.noTTL = true
	return Acquire(ctx, s, cfg)
}

// A Counter counts up and never down: each call for a name gives another number,
// from 0 on. sqlstore, redisstore and etcdstore have it.
type Counter interface {
	Count(ctx context.Context, name string) (int64, error)
}

// FromCounter takes the next number of a counter, once for each start of a
// process. The counter never begins anew: when it has passed the layout's last
// number the error is a *UsedUpError. Number.Left says how many starts remain, so
// that somebody can be told in time.
//
// It suits processes that are started seldom, in a layout with many worker bits;
// others take [Acquire], which gives numbers back.
func FromCounter(ctx context.Context, c Counter, l core.Layout, name string) (*Number, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := driver.CheckNamespace(name); err != nil {
		return nil, err
	}
	if isNil(c) {
		return nil, configError([]core.FieldError{{Field: "Counter", Value: "nil", Reason: "must be given"}})
	}
	n, err := bounded.Do(ctx, new(bounded.Calls), "count", func() (int64, error) { return c.Count(ctx, name) })
	if err != nil {
		return nil, fmt.Errorf("worker: no number from counter %q: %w", name, err)
	}
	if n < 0 {
		return nil, errors.New("worker: counter " + fmt.Sprintf("%q gave %d: it must count up from 0", name, n))
	}
	numbers := l.WorkerIDs()
	if n >= numbers {
		return nil, &CounterExhaustedError{Name: name, WorkerIDs: numbers}
	}
	number := newNumber(n, fmt.Sprintf("from counter %q, %d left", name, numbers-1-n))
	number.left = numbers - 1 - n
	return number, nil
}
