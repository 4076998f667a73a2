package core

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what a generator is made of. Only Worker must be set.
type Config struct {
	Layout    Layout           // zero: the grant's, or Twitter's where the grant has none
	Worker    Worker           // required: no worker number is safe to guess
	ClockBack ClockBack        // nil: Logical{}
	MaxWait   time.Duration    // zero: 1s or two ticks, whichever is more: the longest that Next or Fill waits for a place in time
	Now       func() time.Time // nil: the system clock; when set it is the wall clock, read for every id
	NotBefore time.Time        // ids carry later times than this, for example that of the greatest id in use
}

// A Generator issues ids. It is safe for use by many goroutines. Make it with
// New, once for each worker number: the zero value answers ErrClosed.
type Generator struct {
	shape   *shape
	policy  policy
	maxWait time.Duration
	clock   *clock
	run     atomic.Pointer[run]
	stats   counters
	closing sync.Once
	done    chan struct{} // closed by Close
}

// New checks the whole configuration, all faults in one [ConfigError], and
// obtains the grant. It is an error if the clock lies outside the layout's time
// ([ErrTimeOver] beyond its end), or if the grant has a generator already
// ([ErrInUse]).
//
// The generator begins one tick after the one New is called in.
func New(cfg Config) (*Generator, error) {
	s, pol, err := cfg.check()
	if err != nil {
		return nil, err
	}
	grant, err := cfg.Worker.Grant(context.Background(), nil)
	if err != nil {
		return nil, fmt.Errorf("core: no worker number: %w", err)
	}
	if grant == nil {
		return nil, fmt.Errorf("core: no worker number: %T gave no grant and no error", cfg.Worker)
	}
	g, err := start(cfg, s, pol, grant)
	if err != nil {
		if grant.unattached() {
			grant.Close()
		}
		return nil, err
	}
	return g, nil
}

// check finds what is wrong with the configuration by itself.
func (cfg Config) check() (*shape, policy, error) {
	var faults []Fault
	s, err := cfg.Layout.shape()
	if err != nil {
		faults = append(faults, cfg.Layout.withDefaults().faults()...)
	}
	if cfg.Worker == nil {
		faults = append(faults, Fault{"Worker", "nil", "must be set, for example to core.Fixed(n): no number is safe to guess"})
	}
	if cfg.ClockBack == nil {
		cfg.ClockBack = Logical{}
	}
	pol, more := cfg.ClockBack.policy()
	faults = append(faults, more...)
	if cfg.MaxWait < 0 {
		faults = append(faults, Fault{"MaxWait", cfg.MaxWait.String(), "must not be negative"})
	}
	return s, pol, configError(faults)
}

// start makes a generator of a grant.
func start(cfg Config, s *shape, pol policy, grant *Grant) (*Generator, error) {
	if grant.shape != nil {
		if cfg.Layout == (Layout{}) {
			s = grant.shape
		} else if !s.same(grant.shape) {
			return nil, &ConfigError{[]Fault{{"Layout", s.layout.String(), "must be the grant's, " + grant.shape.layout.String()}}}
		}
	}
	if fault := s.checkWorker(grant.worker); fault != nil {
		return nil, &ConfigError{[]Fault{*fault}}
	}
	at := time.Now()
	wall := at
	if cfg.Now != nil {
		wall = cfg.Now()
	}
	first, err := s.firstTick(wall, cfg.NotBefore)
	if err != nil {
		return nil, err
	}
	g := &Generator{
		shape: s, policy: pol, maxWait: cfg.MaxWait, done: make(chan struct{}),
		clock: newClock(s, cfg.Now, at, wall),
	}
	if g.maxWait == 0 {
		g.maxWait = max(time.Second, 2*s.layout.Tick)
	}
	r := newRun(s, grant, first, pol)
	if err := grant.attach(r); err != nil {
		return nil, err
	}
	g.run.Store(r)
	return g, nil
}

// firstTick is the first tick that a generator made now may issue in. Another
// one may have issued in the present tick a moment ago, under the same number.
func (s *shape) firstTick(wall, notBefore time.Time) (uint64, error) {
	if wall.Before(s.layout.Epoch) {
		return 0, &ConfigError{[]Fault{{"Layout.Epoch", format(s.layout.Epoch), "lies in the future, it is " + format(wall)}}}
	}
	if !wall.Before(s.end) {
		return 0, fmt.Errorf("%w: it ended at %s, and it is %s", ErrTimeOver, format(s.end), format(wall))
	}
	first := s.tickOf(wall) + 1
	if !notBefore.IsZero() && !notBefore.Before(s.layout.Epoch) {
		if !notBefore.Before(s.end) {
			return 0, &ConfigError{[]Fault{{"NotBefore", format(notBefore), "lies beyond the layout's end, " + format(s.end)}}}
		}
		first = max(first, s.tickOf(notBefore)+1)
	}
	return first, nil
}

// Next issues one id. It waits for a place in time for at most Config.MaxWait,
// or until ctx is done, and issues nothing after that. Ids of one generator
// ascend: a call that begins after another has returned gets a greater id.
//
// The error is the context's, or wraps [ErrSequenceExhausted], [ErrFenced],
// [ErrLost], [ErrClosed] or [ErrTimeOver], or is a [ClockError].
func (g *Generator) Next(ctx context.Context) (int64, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	var wait waiting
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		r := g.run.Load()
		if r == nil {
			return 0, ErrClosed
		}
		from, n := g.take(r, 1)
		if n == 1 {
			return r.id(from), nil
		}
		if err := g.await(ctx, r, &wait); err != nil {
			return 0, err
		}
	}
}

// Fill issues len(ids) ids, ascending. It hands out all of them or, with an
// error, none, and then leaves ids as it was; what had been taken by then is
// never issued. Where they do not fit the present tick it goes on tick by tick:
// each wait is bounded by Config.MaxWait, the whole by ctx alone.
//
// The errors are those of Next.
func (g *Generator) Fill(ctx context.Context, ids []int64) error {
	if ctx == nil {
		ctx = context.Background()
	}
	var wait waiting
	var taken spans
	for missing := uint64(len(ids)); missing > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := g.run.Load()
		if r == nil {
			return ErrClosed
		}
		if from, n := g.take(r, missing); n > 0 {
			taken.add(r, from, n)
			missing -= n
			wait = waiting{}
		} else if err := g.await(ctx, r, &wait); err != nil {
			return err
		}
	}
	taken.write(ids)
	return nil
}

// take reserves up to want places and gives the first, or says that there is
// none at present.
//
// The swap is what makes it safe: it succeeds only if nobody has issued since
// the word was loaded, and it never lowers the word. The clock is read before
// the word, not after it, which leaves others less time to come between; a
// goroutine that pauses after reading it finds the word beyond its time, and
// goes by the word. A place refused on such an old reading is looked at again
// in await.
func (g *Generator) take(r *run, want uint64) (from, n uint64) {
	s := r.shape
	bits := s.layout.SequenceBits
	now, ceiling := g.clock.read()
	if !g.policy.carry {
		ceiling = now
	}
	last := r.last(ceiling)
	if now > last { // also where the layout's time is over
		return 0, 0
	}
	clock := now << bits
	for {
		word := r.word.Load()
		from = max(word, clock)
		tick := from >> bits
		if tick > last { // the closed word is beyond every tick
			return 0, 0
		}
		n = want
		if want > 1 {
			n = min(want, (last-tick+1)<<bits-from&s.seqMax)
		}
		skip := from - word
		if skip > 0 {
			r.skipped.Add(skip) // before the swap, so that Stats never counts too many
		}
		if r.word.CompareAndSwap(word, from+n) {
			return from, n
		}
		if skip > 0 {
			r.skipped.Add(-skip)
		}
	}
}

// Layout is the layout of the ids, its defaults filled in.
func (g *Generator) Layout() Layout {
	if g.shape == nil {
		return Layout{}
	}
	return g.shape.layout
}

// Close ends the generator: calls that wait, and all later ones, get
// [ErrClosed]. When it returns no more ids are issued. The error is always nil.
func (g *Generator) Close() error {
	g.closing.Do(func() {
		if r := g.run.Load(); r != nil {
			r.close()
		}
		if g.done != nil {
			close(g.done)
		}
	})
	return nil
}
