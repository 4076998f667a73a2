package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A Limiter limits the requests of the leases that share a store. While the store fails, or
// refuses claims, these leases make four requests a second together, and share the failures. When
// the store answers again, up to 8 requests are made at a time, and slowly more, until none waits; in the
// first 15 s, up to 48. While nothing fails, a Limiter does nothing.
//
// Leases whose last request failed wait in a separate queue, with the same limits. So if a store fails
// only for some leases, such as when one of its servers is down, the others can renew.
//
// A store embeds a Limiter by value; the zero value is ready for use. A wrapper that embeds a
// pointer to such a store shares its limiter.
type Limiter struct {
	healthy, failing gate // of all requests, while the store fails; failing: of leases whose last one has failed

	mu     sync.Mutex
	claims map[any]*gate // of the claims of one kind, while they are refused
}

const (
	gateInterval = 250 * time.Millisecond // a gate of claims gets one token in this time, the two of the store in twice of it
	gateBurst    = 4                      // the most tokens of a gate, so that the first repetitions of a single lease do not wait
	gateRunning  = 8                      // so many requests may be under way when a gate begins to limit; those older than gateHeld do not count
	gateMost     = 48                     // the most that gateRunning rises to within gateCalm, in each of two gates: a server may allow only 100 connections
	gateHeld     = time.Second            // how long a request that hangs keeps others waiting
	gateCalm     = 15 * time.Second       // how long after the last failure a gate limits how many are under way: the others may come at once
	gateKept     = time.Minute            // how long the gate of a kind of claims is kept after the last one
)

// Limit is for package worker. It calls ask, or returns the error of another lease's request
// that was made after this call began. Older errors are not shared: since then the store may
// have recovered, or a worker ID may be free. Nor are errors of one lease, such as
// ErrNotHeld. sent reports whether ask was called.
//
// kind is nil, or the kind of a claim: the store gives all claims of a kind the same answer. A
// repeated claim has no kind: it may have been granted already, even if the store refuses
// others.
//
// last says whether the last request of this lease that was made has failed. Limit sets it.
func (l *Limiter) Limit(ctx context.Context, last *atomic.Bool, kind any, ask func() error) (sent bool, err error) {
	of := ofStore
	if kind != nil {
		of = ofStoreByClaim
	}
	send := func() (err error) {
		g := &l.healthy
		if last.Load() {
			g = &l.failing
		}
		sent, err = g.pass(ctx, of, func() error {
			err := ask()
			last.Store(ofStore.judge(err) == failed)
			return err
		})
		return err
	}
	if kind == nil {
		err = send()
	} else {
		_, err = l.gate(kind).pass(ctx, ofClaims, send)
	}
	return sent, err
}

func (l *Limiter) gate(kind any) *gate {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	g := l.claims[kind]
	if g == nil {
		for other, g := range l.claims {
			if now.Sub(g.used) > gateKept {
				delete(l.claims, other)
			}
		}
		if l.claims == nil {
			l.claims = make(map[any]*gate)
		}
		g = &gate{ofClaims: true}
		l.claims[kind] = g
	}
	g.used = now
	return g
}

// A verdict is what the outcome of one request says about those that wait.
type verdict uint8

const (
	answered verdict = iota // the next ones may be made
	failed                  // they fail too
	nothing
)

// A subject is what a verdict is about.
type subject uint8

const (
	ofStore        subject = iota // the store, by a renewal, a release or a repeated claim
	ofStoreByClaim                // the store, by a claim: a permanent error ends the lease, so it need not be slowed down
	ofClaims                      // the claims of one kind, by one of them
)

func (of subject) judge(err error) verdict {
	switch {
	case err == nil: // there may be more
		return answered
	case errors.Is(err, context.Canceled): // by the lease
		return nothing
	case of != ofClaims && (errors.Is(err, ErrNotHeld) || errors.Is(err, ErrNoWorkerID) ||
		errors.As(err, new(*core.ConfigError)) || errors.As(err, new(*SkewError)) || errors.As(err, new(*LayoutError))):
		return answered
	case of != ofStore && IsPermanent(err):
		return nothing
	}
	return failed
}

// A gate lets requests pass while none fails. After a failure they queue, in the order in which
// they come: one passes for each token. When one has succeeded, they need no tokens.
type gate struct {
	used     time.Time // of Limiter
	ofClaims bool

	limiting atomic.Bool // otherwise requests do not use what follows
	mu       sync.Mutex
	fails    bool      // the last one failed
	last     error     // the last failure
	failedAt time.Time // when it came
	tokens   int       // how many may pass now, while fails
	refilled time.Time // when the last token was added
	running  int       // how many have passed and are under way
	most     int       // how many may be
	answers  int       // since most was last raised
	arrived  int       // how many have come in all
	waiting  []*turn
	timed    bool // a timer admits the next one
}

// A turn is a request that waits.
type turn struct {
	arrived int        // of the gate, when the request came
	passed  int        // of the gate, when it passed
	ready   chan error // gets nil when it may pass, or the failure of one that passed after it came
}

// pass calls ask, or returns why not.
func (g *gate) pass(ctx context.Context, of subject, ask func() error) (sent bool, err error) {
	if !g.limiting.Load() {
		err = ask()
		if of.judge(err) == failed {
			g.mu.Lock()
			g.fail(err)
			g.mu.Unlock()
		}
		return true, err
	}
	t := g.enter()
	if err := g.wait(ctx, t); err != nil {
		return false, err
	}
	free := sync.OnceFunc(g.free)
	defer free()
	defer time.AfterFunc(gateHeld, free).Stop()
	err = ask()
	g.exit(t, err, of.judge(err))
	return true, err
}

// free ends the count of a request that is under way.
func (g *gate) free() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.update()
}

// wait waits for at most half of the time that the request has: the store needs time too.
func (g *gate) wait(ctx context.Context, t *turn) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	select {
	case err := <-t.ready:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, t); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		g.update()
		if g.last == nil {
			return fmt.Errorf("waited for the requests of other leases, after a failure: %w", ctx.Err())
		}
		return fmt.Errorf("waited for the requests of other leases; the last failure: %v: %w", g.last, ctx.Err()) //nolint:errorlint // it is older than this request
	}
	return <-t.ready // it has just come
}

func (g *gate) enter() *turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived++
	t := &turn{arrived: g.arrived, ready: make(chan error, 1)}
	g.waiting = append(g.waiting, t)
	g.update()
	return t
}

func (g *gate) exit(t *turn, err error, v verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch v {
	case failed:
		g.fail(err)
		came := func(other *turn) bool { return other.arrived > t.passed }
		n := slices.IndexFunc(g.waiting, came)
		if n < 0 {
			n = len(g.waiting)
		}
		for _, other := range g.waiting[:n] {
			other.ready <- fmt.Errorf("the request of another lease failed: %w", g.last)
		}
		g.waiting = g.waiting[n:]
	case answered:
		g.fails, g.last = false, nil
		if g.answers++; g.answers >= g.most && (g.most < gateMost || time.Since(g.failedAt) > gateCalm) {
			g.answers = 0
			g.most++
		}
	}
	g.update()
}

// fail makes requests wait; g.mu is held.
func (g *gate) fail(err error) {
	if !g.limiting.Load() {
		g.tokens, g.refilled = gateBurst, time.Now()
	}
	if IsPermanent(err) { // for its own lease, perhaps, and in any case not for those that were not sent
		err = errors.New(err.Error())
	}
	g.fails, g.last, g.failedAt, g.most, g.answers = true, err, time.Now(), gateRunning, 0
	g.limiting.Store(true)
}

// update lets those pass that may; g.mu is held.
func (g *gate) update() {
	for len(g.waiting) > 0 && g.running < g.most && g.token() {
		t := g.waiting[0]
		g.waiting = g.waiting[1:]
		g.running++
		t.passed = g.arrived
		t.ready <- nil
	}
	if len(g.waiting) > 0 && g.running < g.most && !g.timed {
		g.timed = true
		time.AfterFunc(time.Until(g.refilled.Add(g.interval())), func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.timed = false
			g.update()
		})
	}
	g.limiting.Store(g.fails || g.running > 0 || len(g.waiting) > 0 || time.Since(g.failedAt) < gateCalm)
}

// token takes one, if there is one or none is needed.
func (g *gate) token() bool {
	if !g.fails {
		return true
	}
	now := time.Now()
	if since, one := now.Sub(g.refilled), g.interval(); since >= one {
		g.tokens = min(g.tokens+int(since/one), gateBurst)
		g.refilled = now.Add(-since % one)
	}
	if g.tokens == 0 {
		return false
	}
	g.tokens--
	return true
}

func (g *gate) interval() time.Duration {
	if g.ofClaims {
		return gateInterval
	}
	return 2 * gateInterval
}
