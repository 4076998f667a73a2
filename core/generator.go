package core

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what a generator is made of. Only Worker must be set.
type Config struct {
	Layout      Layout           // zero: the grant's, or Twitter's where the grant has none
	Worker      GrantSource      // required: no worker number is safe to guess
	ClockPolicy ClockPolicy      // nil: Logical{}
	Sequence    SequenceStart    // how the sequence begins in a new tick; Zero, Carry or Random
	MaxWait     time.Duration    // zero: 1s or two ticks, whichever is more: the longest that Next or Fill waits for a place in time
	Now         func() time.Time // nil: the system clock; when set it is the wall clock, read for every id; it must be as fine as a tick
	NotBefore   time.Time        // ids carry later times than this, for example that of the greatest id in use
	MaxJump     time.Duration    // zero: 1min; a wall clock that leaps ahead by more is not followed until that has lasted 10s
	Observer    Observer         // nil: none; told of rare events only
}

// A Generator issues ids. It is safe for use by many goroutines. Make it with
// New, once for each worker number: the zero value answers ErrClosed.
type Generator struct {
	shape      *shape
	policy     policy
	sequence   SequenceStart
	maxWait    time.Duration
	worker     GrantSource
	observer   Observer
	clock      *clock
	run        atomic.Pointer[run]
	stats      counters
	napping    atomic.Bool     // somebody holds a thread to wait precisely
	nextReport [4]atomic.Int64 // of the kinds that mayReport limits: the elapsed time of the next report
	asking     chan struct{}   // held by who asks the Worker for another grant
	parts      sync.Pool       // of *[]part, for a Fill in many parts
	done       <-chan struct{} // closed by Close
	end        func()          // closes it
	life       context.Context // ends with it: for what the generator waits for itself

	mu        sync.Mutex // held to replace the run, and to close
	closed    bool
	before    uint64           // places that the runs before this one have passed
	notBefore uint64           // first tick that Config.NotBefore allows
	marks     []uint64         // Rollback: by value, the first tick it never issued in; that of the run in use is old
	usedBy    map[int64]uint64 // by worker number that was given up, the same
}

// New checks the whole configuration, all faults in one [ConfigError], and
// obtains the grant. It is an error if the clock lies outside the layout's time
// ([ErrTimestampExhausted] beyond its end), or if the grant has a generator already
// ([ErrInUse]).
//
// The generator begins one tick after the one New is called in.
func New(cfg Config) (*Generator, error) {
	s, pol, err := cfg.check()
	if err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		g, lost, err := cfg.open(s, pol)
		if !lost || tries == maxReplaced {
			return g, err
		}
	}
}

// open asks for a grant and starts a generator under it. It is lost if it was revoked
// on its way here, as when a lease has just found another number for it.
func (cfg Config) open(s *shape, pol policy) (g *Generator, lost bool, err error) {
	grant, err := cfg.Worker.Grant(context.Background(), nil)
	if err != nil {
		return nil, false, fmt.Errorf("core: no worker number: %w", err)
	}
	if grant == nil {
		return nil, false, fmt.Errorf("core: no worker number: %T gave no grant and no error", cfg.Worker)
	}
	defer func() {
		if !grant.Attached() { // an error, or a panic in Config.Now or the Observer
			grant.Close()
		}
	}()
	g, err = start(cfg, s, pol, grant)
	return g, err != nil && grant.lostUnused(), err
}

// check finds what is wrong with the configuration by itself.
func (cfg Config) check() (*shape, policy, error) {
	var faults []FieldError
	s, err := cfg.Layout.shape()
	if err != nil {
		faults = append(faults, cfg.Layout.WithDefaults().faults()...)
	}
	if cfg.Worker == nil {
		faults = append(faults, FieldError{"Worker", "nil", "must be set, for example to core.Fixed(n): no number is safe to guess"})
	}
	if cfg.ClockPolicy == nil {
		cfg.ClockPolicy = Logical{}
	}
	pol := cfg.ClockPolicy.policy(cfg.Layout.WithDefaults())
	if cfg.Layout != (Layout{}) || pol.answer != rollBack { // else the grant's layout counts, see start
		faults = append(faults, pol.faults...)
	}
	if cfg.Sequence > SequenceRandom {
		faults = append(faults, FieldError{"Sequence", fmt.Sprint(uint8(cfg.Sequence)), "must be Zero, Carry or Random"})
	}
	if cfg.MaxWait < 0 {
		faults = append(faults, FieldError{"MaxWait", cfg.MaxWait.String(), "must not be negative"})
	}
	if cfg.MaxJump < 0 {
		faults = append(faults, FieldError{"MaxJump", cfg.MaxJump.String(), "must not be negative"})
	}
	return s, pol, configError(faults)
}

// start makes a generator of a grant.
func start(cfg Config, s *shape, pol policy, grant *Grant) (*Generator, error) {
	if grant.shape != nil {
		if cfg.Layout == (Layout{}) {
			s = grant.shape
		} else if !s.same(grant.shape) {
			return nil, configError([]FieldError{{"Layout", s.layout.String(), "must be the grant's, " + grant.shape.layout.String()}})
		}
	}
	if fault := s.checkWorker(grant.worker); fault != nil {
		return nil, configError([]FieldError{*fault})
	}
	if cfg.ClockPolicy != nil {
		if pol = cfg.ClockPolicy.policy(s.layout); len(pol.faults) > 0 {
			return nil, configError(pol.faults)
		}
	}
	var wall time.Time
	if cfg.Now != nil {
		wall = cfg.Now()
	}
	at := time.Now() // after the wall clock, so that a pause makes it seem behind and never ahead
	if cfg.Now == nil {
		wall = at
	}
	notBefore := cfg.NotBefore.Add(1) // later than it
	if cfg.NotBefore.IsZero() {
		notBefore = time.Time{}
	}
	if grant.after.After(notBefore) {
		notBefore = grant.after
	}
	first, lowest, err := s.firstTick(wall, notBefore)
	if err != nil {
		return nil, err
	}
	if pol.answer == detached {
		first = lowest
	}
	g := &Generator{
		shape: s, policy: pol, sequence: cfg.Sequence, maxWait: cfg.MaxWait, worker: cfg.Worker, observer: cfg.Observer,
		asking: make(chan struct{}, 1), notBefore: lowest,
	}
	g.life, g.end = context.WithCancel(context.Background())
	g.done = g.life.Done()
	if g.maxWait == 0 {
		g.maxWait = max(time.Second, 2*min(s.layout.Tick, math.MaxInt64/2))
	}
	maxJump := cfg.MaxJump
	if maxJump == 0 {
		maxJump = time.Minute
	}
	g.clock = newClock(s, cfg.Now, at, wall, maxJump, g.clockEvent)
	g.clock.covers = g.covers
	if err := g.suits(grant); err != nil {
		return nil, err
	}
	r := newRun(s, grant, 0, first, pol)
	g.carryOn(r, noLine)
	g.run.Store(r)
	if left := s.end.Sub(wall); left < expirySoon {
		g.observe(LayoutExpiring, left, nil) // while a panic of the observer's costs no grant
	}
	if err := grant.attach(r); err != nil {
		return nil, err
	}
	return g, nil
}

// covers reports whether the grant's fence allows a time of the clock.
func (g *Generator) covers(ns int64) bool {
	r := g.run.Load()
	return r == nil || !r.grant.bound || g.clock.tickAt(ns) < r.grant.until.Load()
}

// clockEvent is what the clock tells of itself.
func (g *Generator) clockEvent(kind EventKind, by time.Duration) {
	if kind == ClockStepBack {
		g.stats.steppedBack(by)
	}
	g.observe(kind, by, nil)
}

// firstTick is the first tick that a generator made now may issue in: another
// one may have issued in the present tick a moment ago, under the same number.
// lowest is the first that begins at notBefore or later.
func (s *shape) firstTick(wall, notBefore time.Time) (first, lowest uint64, err error) {
	if wall.Before(s.layout.Epoch) {
		return 0, 0, configError([]FieldError{{"Layout.Epoch", format(s.layout.Epoch), "lies in the future, it is " + format(wall)}})
	}
	if !wall.Before(s.end) {
		return 0, 0, fmt.Errorf("%w: it ended at %s, and it is %s", ErrTimestampExhausted, format(s.end), format(wall))
	}
	if notBefore.After(s.layout.Epoch) {
		if !notBefore.Before(s.end) {
			return 0, 0, configError([]FieldError{{"NotBefore", format(notBefore), "lies beyond the layout's end, " + format(s.end)}})
		}
		lowest = s.tickFrom(notBefore)
	}
	return max(s.tickOf(wall)+1, lowest), lowest, nil
}

// Next issues one id. It waits for a place in time for at most Config.MaxWait,
// or until ctx is done, and issues nothing after that. (Where a grant is used up
// and its end does not rise in that time, the Worker is asked for another, which
// may take as long again.) Ids of one generator
// ascend: a call that begins after another has returned gets a greater id.
//
// The error is the context's, or wraps [ErrSequenceExhausted], [ErrFenced],
// [ErrLost], [ErrClosed] or [ErrTimestampExhausted], or is a [ClockError].
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
		place, ok, err := g.await(ctx, r, &wait, true)
		if err != nil {
			return 0, err
		}
		if ok {
			return r.id(place), nil
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
	got := taken{pool: &g.parts}
	defer got.done()
	for missing := uint64(len(ids)); missing > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := g.run.Load()
		if r == nil {
			return ErrClosed
		}
		if from, n := g.take(r, missing); n > 0 {
			got.add(r, from, n)
			missing -= n
			wait = waiting{timer: wait.timer, counted: wait.counted, full: wait.full}
		} else if _, _, err := g.await(ctx, r, &wait, false); err != nil {
			return err
		}
	}
	got.write(ids)
	return nil
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
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	if r := g.run.Load(); r != nil {
		r.close()
		g.end()
		r.grant.letGo() // last: who has the grant next must not be mistaken for a loss here
	}
	return nil
}
