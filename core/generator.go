package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a Generator. Only Worker is required.
type Config struct {
	Layout      Layout           // zero: the grant's, or Twitter's if the grant has none
	Worker      GrantSource      // required, for example Fixed(n): no worker ID is safe to guess
	ClockPolicy ClockPolicy      // what to do when the wall clock steps back; nil: Logical{}
	Sequence    SequenceStart    // how the sequence begins in a new tick; zero: SequenceZero
	MaxWait     time.Duration    // the longest that a call waits for a slot, in line with others; zero: 1s or two ticks, whichever is more
	Now         func() time.Time // the wall clock, read for every id; it must be as fine as a tick; nil: the system clock
	NotBefore   time.Time        // ids carry later times than this, for example that of the greatest id in use; zero: no limit
	MaxJump     time.Duration    // a jump ahead of the wall clock by more is ignored until it has persisted for 10s; zero: 1min
	NoCounter   bool             // read the clock for every id, and never the processor's counter
	Observer    Observer         // receives rare events; nil: none
}

// A Generator issues ids. It is safe for concurrent use. Create it with New, one per worker
// ID. The zero value is a closed generator: it returns ErrClosed.
type Generator struct {
	shared
	maxWait    time.Duration
	source     GrantSource
	reporter   reporter
	current    atomic.Pointer[allocator]
	sleeping   sync.Mutex         // held by the call that sleeps precisely; only TryLock is used
	regranting chan struct{}      // held while asking the source for another grant
	chunks     sync.Pool          // of *[]chunk, for a large Fill
	life       context.Context    // done after Close
	end        context.CancelFunc // of life

	mu            sync.Mutex       // held to replace current, and to close
	passed        uint64           // slots that earlier allocators have passed
	notBefore     uint64           // the first tick that Config.NotBefore allows
	rollbackMarks []uint64         // by roll-back value, the first tick in which it has not issued; outdated for the current value
	workerMarks   map[int64]uint64 // the same by worker ID, of those given up
}

// New validates the configuration, obtains a grant and returns a generator that begins in the
// present tick if the grant has a fence, otherwise in the next. It returns all invalid fields
// in one [ConfigError], the error of the GrantSource, [ErrTimestampExhausted] if the present is
// after the layout's end, and [ErrInUse] if another generator has the grant.
func New(cfg Config) (*Generator, error) {
	l, policy, err := cfg.compile()
	if err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		grant, err := cfg.Worker.Grant(context.Background(), nil)
		if err != nil {
			return nil, fmt.Errorf("core: no worker ID: %w", err)
		}
		if grant == nil {
			return nil, fmt.Errorf("core: no worker ID: %T returned no grant and no error", cfg.Worker)
		}
		if err = grant.attach(); err == nil {
			return cfg.start(&l, policy, grant)
		}
		if errors.Is(err, ErrInUse) || tries == maxGrants { // otherwise it was revoked just now
			return nil, err
		}
	}
}

// Validate returns a [ConfigError] with all invalid fields, as New does before it asks for a grant.
func (cfg Config) Validate() error {
	_, _, err := cfg.compile()
	return err
}

// maxGrants is how many grants New, or a call, tries in vain.
const maxGrants = 8

// compile fills in the defaults, and validates what does not depend on the grant.
func (cfg *Config) compile() (l compiledLayout, policy compiledPolicy, err error) {
	defaults := cfg.Layout.WithDefaults()
	invalid := defaults.check()
	reject := func(field, value, reason string) { invalid = append(invalid, FieldError{field, value, reason}) }
	if cfg.Worker == nil {
		reject("Worker", "nil", "must be set, for example to core.Fixed(n): no worker ID is safe to guess")
	}
	if cfg.ClockPolicy == nil {
		cfg.ClockPolicy = Logical{}
	}
	policy = cfg.ClockPolicy.compile(defaults)
	if cfg.Layout != (Layout{}) || policy.kind != policyRollback { // otherwise the grant's layout counts, see start
		invalid = append(invalid, policy.invalid...)
	}
	if cfg.Sequence > SequenceRandom {
		reject("Sequence", fmt.Sprint(uint8(cfg.Sequence)), "must be SequenceZero, SequenceCarry or SequenceRandom")
	}
	if cfg.MaxWait < 0 {
		reject("MaxWait", cfg.MaxWait.String(), "must not be negative")
	}
	if cfg.MaxJump < 0 {
		reject("MaxJump", cfg.MaxJump.String(), "must not be negative")
	}
	if err := configError(invalid...); err != nil {
		return l, policy, err
	}
	cfg.MaxWait = cmp.Or(cfg.MaxWait, max(time.Second, 2*min(defaults.Tick, math.MaxInt64/2)))
	cfg.MaxJump = cmp.Or(cfg.MaxJump, time.Minute)
	l, err = cfg.Layout.compile()
	return l, policy, err
}

// start makes a generator that uses the grant, which it closes if there is none.
func (cfg Config) start(l *compiledLayout, policy compiledPolicy, grant *Grant) (made *Generator, err error) {
	defer func() {
		if made == nil { // an error, or a panic in Config.Now or the Observer
			grant.Close()
		}
	}()
	if grant.layout != nil && cfg.Layout == (Layout{}) {
		l = grant.layout
		policy = cfg.ClockPolicy.compile(l.Layout)
	}
	if err := configError(policy.invalid...); err != nil {
		return nil, err
	}
	var wall time.Time
	if cfg.Now != nil {
		wall = cfg.Now()
	}
	at := time.Now() // after the wall clock, so that a pause makes that seem behind and never ahead
	if cfg.Now == nil {
		wall = at
	}
	notBefore := grant.after
	if later := cfg.NotBefore.Add(1); !cfg.NotBefore.IsZero() && later.After(notBefore) {
		notBefore = later
	}
	now, lowest, err := l.presentTick(wall, notBefore)
	if err != nil {
		return nil, err
	}
	first := max(now+grant.skip, lowest)
	if policy.kind == policyDetached {
		first = lowest
	}
	g := &Generator{
		shared:  shared{layout: l, policy: policy, sequence: cfg.Sequence},
		maxWait: cfg.MaxWait, source: cfg.Worker, reporter: reporter{observer: cfg.Observer, start: at},
		regranting: make(chan struct{}, 1), notBefore: lowest,
	}
	g.life, g.end = context.WithCancel(context.Background())
	g.clock = newClock(l, cfg.Now, at, wall, cfg.MaxJump, g.clockEvent)
	g.clock.fence = g.fenceAllows
	if cfg.NoCounter || policy.kind == policyDetached {
		g.clock.counter.off.Store(true)
	}
	if err := g.checkGrant(grant); err != nil {
		return nil, err
	}
	a := newAllocator(&g.shared, grant, 0, first)
	a.startClock(grantClock{shows: noOffset}, g.clock.read())
	g.current.Store(a)
	if left := l.end.Sub(wall); left < expiresSoon {
		g.observe(LayoutExpiring, left, nil) // before the grant has the allocator: start closes it if the Observer panics
	}
	grant.allocator.Store(a)
	return g, nil
}

// presentTick returns the present tick, and the first one that begins at notBefore or later.
func (c *compiledLayout) presentTick(wall, notBefore time.Time) (now, lowest uint64, err error) {
	if wall.Before(c.Epoch) {
		return 0, 0, configError(FieldError{"Layout.Epoch", formatTime(c.Epoch), "is in the future, it is " + formatTime(wall)})
	}
	if !wall.Before(c.end) {
		return 0, 0, fmt.Errorf("%w: it ended at %s, and it is %s", ErrTimestampExhausted, formatTime(c.end), formatTime(wall))
	}
	if notBefore.After(c.Epoch) {
		if !notBefore.Before(c.end) {
			return 0, 0, configError(FieldError{"NotBefore", formatTime(notBefore), "is after the layout's end, " + formatTime(c.end)})
		}
		lowest = c.tickFrom(notBefore)
	}
	return c.tickOf(wall), lowest, nil
}

// checkGrant returns an error if the grant is not for this layout, or the generator's clock cannot serve it.
func (g *Generator) checkGrant(grant *Grant) error {
	switch {
	case grant.layout != nil && grant.layout.Layout != g.layout.Layout:
		return configError(FieldError{"Layout", g.layout.String(), "must be the grant's, " + grant.layout.String()})
	case g.policy.kind == policyDetached && !grant.hasFence:
		return configError(FieldError{"ClockPolicy.Detached", "true", "needs a grant with a fence"})
	case g.policy.kind != policyDetached && g.clock.startOf(grant.first) >= math.MaxInt64/2:
		return configError(FieldError{"from", formatTime(g.layout.startOf(grant.first)), "is more than 146 years ahead of the clock"})
	}
	return configError(g.layout.checkWorker(grant.worker)...)
}

// fenceAllows reports whether the grant has a fence, and whether that allows a time of the clock.
func (g *Generator) fenceAllows(ns int64) (has, allows bool) {
	a := g.current.Load()
	if a == nil || !a.grant.hasFence {
		return false, true
	}
	return true, g.clock.tickAt(ns) < a.grant.fence.Load()
}

func (g *Generator) clockEvent(kind EventKind, d time.Duration) {
	if kind == ClockStepBack {
		g.counters.addStepBack(d)
	}
	g.observe(kind, d, nil)
}

// Layout returns the layout of the ids, with defaults.
func (g *Generator) Layout() Layout {
	if g.layout == nil {
		return Layout{}
	}
	return g.layout.Layout
}

// Close ends the generator: calls that wait, and all later ones, return [ErrClosed]. After it
// has returned no more ids are issued, and the next generator may have the grant. It may be
// called more than once.
func (g *Generator) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.current.Load()
	if a == nil || g.life.Err() != nil {
		return
	}
	a.close()
	g.end()
	a.grant.end() // last: what the next holder does must not look like a loss here
}

// SequenceStart says with which sequence number a new tick begins. It matters if rows are
// sharded by id modulo the number of shards. The ids of a generator that is seldom used are
// mostly the first of their tick. With SequenceZero these are all even, and reach only a few
// shards. [Shard] does not depend on it.
type SequenceStart uint8

// Where the sequence begins. SequenceCarry and SequenceRandom begin in the lower half of the
// range, so that every tick keeps at least half of its ids.
const (
	SequenceZero   SequenceStart = iota // at 0
	SequenceCarry                       // where the last tick ended
	SequenceRandom                      // at a random number
)

// String returns "Zero", "Carry" or "Random".
func (s SequenceStart) String() string {
	if s > SequenceRandom {
		return "SequenceStart out of range"
	}
	return [...]string{"Zero", "Carry", "Random"}[s]
}

// first returns the sequence number that begins a tick.
func (s SequenceStart) first(cursor, sequenceMax uint64) uint64 {
	switch s {
	case SequenceCarry:
		return cursor & (sequenceMax >> 1)
	case SequenceRandom:
		return rand.Uint64() & (sequenceMax >> 1)
	}
	return 0
}
