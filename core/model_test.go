package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"pgregory.net/rapid"
)

// ledger gives out grants of a few worker IDs, with fences, and keeps what a store would:
// how far each ID may have been used. It wastes nothing: an ID that
// comes back begins at the very instant that was reported to be unused.
type ledger struct {
	layout core.Layout
	window time.Duration
	now    func() time.Time

	mu    sync.Mutex
	rnd   *rand.Rand
	until map[int64]time.Time // by worker ID; one that is granted is not in free
	free  []int64
	spans []span
}

// span is one grant and what it was allowed.
type span struct {
	worker      int64
	from, until time.Time
}

func newLedger(l core.Layout, numbers int64, window time.Duration, seed uint64, now func() time.Time) *ledger {
	b := &ledger{layout: l, window: window, now: now, rnd: rand.New(rand.NewPCG(seed, 0)), until: map[int64]time.Time{}}
	for n := range numbers {
		b.free = append(b.free, n)
	}
	return b
}

// holding is one generator's Worker: the grant it has, by way of the ledger.
type holding struct {
	*ledger
	grant *core.Grant
	span  int
}

var errNoneFree = errors.New("no number is free")

// Grant returns a free worker ID in place of the one that was lost.
func (h *holding) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.free) == 0 {
		return nil, errNoneFree // and the one it has stays its own
	}
	if prev != nil {
		h.giveBackLocked()
	}
	i := h.rnd.IntN(len(h.free))
	n := h.free[i]
	h.free = slices.Delete(h.free, i, i+1)
	s := span{worker: n, from: h.until[n]}
	s.until = h.now().Add(h.window)
	if s.until.Before(s.from) {
		s.until = s.from.Add(h.window)
	}
	gr, err := core.NewGrant(h.layout, n, s.from, s.until)
	if err != nil {
		return nil, err
	}
	h.until[n], h.grant, h.span = s.until, gr, len(h.spans)
	h.spans = append(h.spans, s)
	return gr, nil
}

// giveBack returns the worker ID, with the rest of its time.
func (h *holding) giveBack() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.giveBackLocked()
}

func (h *holding) giveBackLocked() {
	if h.grant == nil {
		return
	}
	s := h.spans[h.span]
	h.until[s.worker] = h.grant.Close()
	h.free = append(h.free, s.worker)
	h.grant = nil
}

// raise records a later end, and only then allows it.
func (h *holding) raise(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grant == nil {
		return
	}
	s := &h.spans[h.span]
	s.until = s.until.Add(by)
	h.until[s.worker] = s.until
	h.grant.RaiseFence(s.until)
}

// revoke takes the right away, as a steal would.
func (h *holding) revoke() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grant != nil {
		h.grant.Revoke(errors.New("taken"))
	}
}

// allows reports whether some grant covers an id's worker and time.
func (b *ledger) allows(p core.Parts) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := p.Datacenter<<b.layout.WorkerBits | p.Worker
	return slices.ContainsFunc(b.spans, func(s span) bool {
		return s.worker == n && !p.Time.Before(s.from) && p.Time.Before(s.until)
	})
}

// Everything at once: four generators share five worker IDs, each with a clock of
// its own that steps by up to an hour, while their grants are raised, revoked and
// given back to the last tick, calls are cancelled, generators are closed and made
// anew, and half of them trust a processor's counter that lies. No id may come twice, from whichever generator.
func TestStorm(t *testing.T) {
	answers := map[string]core.ClockPolicy{
		"Logical": core.Logical{}, "Near": core.Logical{MaxAhead: 3 * time.Millisecond}, "Detached": core.Logical{Detached: true},
		"Refuse": core.Refuse{}, "Wait": core.Wait{Max: 2 * time.Millisecond}, "Rollback": core.Rollback{},
		"Reuse": core.Reuse{Window: time.Minute}, "Rotate": core.Rotate{},
	}
	for name, answer := range answers {
		for _, start := range []core.SequenceStart{core.SequenceZero, core.SequenceRandom} {
			t.Run(fmt.Sprint(name, "/", start), func(t *testing.T) { storm(t, answer, start) })
		}
	}
}

func storm(t *testing.T, answer core.ClockPolicy, start core.SequenceStart) {
	const generators, writers = 4, 3
	lasts := 300 * time.Millisecond
	if testing.Short() {
		lasts = 100 * time.Millisecond
	}
	l := core.Layout{TimeBits: 41, RollbackBits: 2, WorkerBits: 3, SequenceBits: 6} // so few that calls wait in line
	var truth steppingClock
	book := newLedger(l, generators+1, 20*time.Millisecond, 1, truth.now)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	var mu sync.Mutex
	var all [][]int64
	drawn := 0
	var wg sync.WaitGroup
	for i := range generators {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(2, uint64(i)))
			for ctx.Err() == nil {
				var clock steppingClock
				honest := func() {}
				h := &holding{ledger: book}
				g, err := core.New(core.Config{
					Layout: l, Worker: h, ClockPolicy: answer, Sequence: start, Now: clock.now,
					MaxWait: 5 * time.Millisecond, MaxJump: 24 * time.Hour,
				})
				if err != nil {
					t.Error(err)
					return
				}
				if rnd.IntN(2) == 0 {
					honest = core.Mislead(g)
				}
				var writing sync.WaitGroup
				stop, halt := context.WithTimeout(ctx, time.Duration(10+rnd.IntN(60))*time.Millisecond)
				for w := range writers {
					writing.Go(func() {
						ids := drawUntil(stop, t, g, book, rand.New(rand.NewPCG(uint64(i), uint64(w))))
						mu.Lock()
						all = append(all, ids)
						if drawn += len(ids); drawn >= 1000 && time.Since(began) >= lasts {
							cancel()
						}
						mu.Unlock()
					})
				}
				for stop.Err() == nil {
					time.Sleep(time.Duration(rnd.IntN(2000)) * time.Microsecond)
					switch rnd.IntN(8) {
					case 0:
						h.revoke()
					case 1, 2:
						clock.offset.Add(rnd.Int64N(int64(2*time.Hour)) - int64(time.Hour))
					case 3:
						clock.offset.Add(rnd.Int64N(int64(20*time.Millisecond)) - int64(10*time.Millisecond))
					default:
						h.raise(time.Duration(rnd.IntN(40)) * time.Millisecond)
					}
				}
				if rnd.IntN(2) == 0 {
					g.Close()
				}
				h.giveBack() // closes the run where the generator has not
				writing.Wait()
				halt()
				honest()
				g.Close()
				h.giveBack() // it may have asked once more
			}
		})
	}
	wg.Wait()
	ids := slices.Concat(all...)
	noDuplicates(t, ids)
	if drawn < 1000 {
		t.Errorf("only %d ids were drawn", drawn)
	}
	t.Logf("%d ids under %d grants", len(ids), len(book.spans))
}

// drawUntil draws singly and in blocks, now and then with a context that ends at
// once, and gives what it got.
func drawUntil(stop context.Context, t *testing.T, g *core.Generator, book *ledger, rnd *rand.Rand) []int64 {
	var got []int64
	block := make([]int64, 300)
	for stop.Err() == nil {
		ctx, cancel := stop, func() {}
		if rnd.IntN(3) == 0 { // often while it waits, with slots reserved
			ctx, cancel = context.WithTimeout(stop, time.Duration(rnd.IntN(1500))*time.Microsecond)
		}
		n := 1
		var err error
		clear(block)
		if rnd.IntN(3) > 0 {
			block[0], err = g.Next(ctx)
		} else {
			n = 1 + rnd.IntN(len(block))
			err = g.Fill(ctx, block[:n])
		}
		cancel()
		if err != nil {
			if block[0] != 0 || block[n-1] != 0 {
				t.Errorf("ids were issued with %v", err)
			}
			if errors.Is(err, core.ErrClosed) {
				return got
			}
			continue
		}
		got = append(got, block[:n]...)
		for _, id := range []int64{block[0], block[n-1]} {
			if p, err := g.Layout().Decode(id); err != nil || !book.allows(p) {
				t.Errorf("%d lies outside every grant: %+v, %v", id, p, err)
				return got
			}
		}
	}
	return got
}

// step is one thing that happens to a generator in the model.
type step struct {
	sleep  time.Duration // time passes
	shift  time.Duration // the wall clock steps
	draw   int           // ids: 1 by Next, more by Fill
	raise  time.Duration // the grant's end rises
	revoke bool          // the grant is taken away
	remake bool          // the generator is closed and made anew, above the greatest id
	lie    uint64        // the counts for which a tick seems to be known, if the counter lies
}

// model is a set of the ids issued, the highest wall clock seen, carried on, and
// the spans that the ledger granted.
type model struct {
	layout   core.Layout
	back     core.ClockPolicy
	start    core.SequenceStart
	clock    manual
	fixed    core.GrantSource // nil: grants of the ledger
	held     *holding
	g        *core.Generator
	born     time.Time     // of the generator, by its clock
	lead     time.Duration // of the hybrid clock over the bubble's time
	issued   map[int64]bool
	last     int64     // of this generator
	greatest time.Time // of all ids
	remade   bool
	misled   bool // the generator trusts a processor's counter that lies
}

// A generator under any sequence of steps, against the model.
func TestAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{
			back: rapid.SampledFrom([]core.ClockPolicy{
				core.Logical{}, core.Logical{MaxAhead: 5 * time.Millisecond}, core.Refuse{}, core.Wait{Max: 10 * time.Millisecond},
				core.Rollback{}, core.Reuse{Window: 50 * time.Millisecond}, core.Rotate{},
			}).Draw(rt, "back"),
			layout: core.Layout{
				TimeBits: 41, RollbackBits: 2, WorkerBits: 3, SequenceBits: rapid.Uint8Range(0, 4).Draw(rt, "sequenceBits"),
				Tick:          time.Duration(rapid.SampledFrom([]int{1, 3, 10}).Draw(rt, "tick")) * time.Millisecond,
				SequenceFirst: rapid.Bool().Draw(rt, "sequenceFirst"),
			},
			start:  rapid.SampledFrom([]core.SequenceStart{core.SequenceZero, core.SequenceCarry, core.SequenceRandom}).Draw(rt, "start"),
			issued: map[int64]bool{},
			misled: rapid.Bool().Draw(rt, "misled"),
		}
		if _, rotate := m.back.(core.Rotate); !rotate && rapid.Bool().Draw(rt, "fixed") {
			m.fixed = core.Fixed(5)
		}
		ms := func(label string, least int) time.Duration {
			return time.Duration(rapid.IntRange(least, 100).Draw(rt, label)) * time.Millisecond
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0, 1:
				return step{sleep: ms("sleep", 0)}
			case 2, 3:
				return step{shift: ms("shift", -100)}
			case 4:
				return step{raise: ms("raise", 0)}
			case 5:
				return step{revoke: true}
			case 6:
				return step{remake: true}
			}
			lie := rapid.SampledFrom([]uint64{0, 1 << 20, 1 << 60}).Draw(rt, "lie")
			return step{draw: rapid.IntRange(1, 40).Draw(rt, "draw"), lie: lie}
		}), 1, 40).Draw(rt, "steps")
		var fault string
		synctest.Test(t, func(t *testing.T) { fault = m.run(t, steps) })
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

func (m *model) run(t *testing.T, steps []step) string {
	time.Sleep(time.Until(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
	m.held = &holding{ledger: newLedger(m.layout, 8, 60*time.Millisecond, 1, m.clock.now)}
	if err := m.make(time.Time{}); err != nil {
		return err.Error()
	}
	defer func() { m.g.Close() }()
	for i, s := range steps {
		time.Sleep(s.sleep)
		m.clock.offset += s.shift
		m.lead = max(m.lead, m.clock.offset)
		if m.fixed == nil && s.raise > 0 {
			m.held.raise(s.raise)
		}
		if m.fixed == nil && s.revoke {
			m.held.revoke()
		}
		var fault string
		switch {
		case s.remake:
			m.g.Close()
			m.held.giveBack()
			if err := m.make(m.greatest); err != nil {
				fault = err.Error()
			}
			m.remade = true
		case s.draw > 0:
			fault = m.draw(t, s.draw, s.lie)
		}
		if fault != "" {
			return fmt.Sprintf("step %d: %s", i, fault)
		}
	}
	if n := m.g.Stats().Issued; !m.remade && n < uint64(len(m.issued)) {
		return fmt.Sprintf("%d issued, Stats tell %d", len(m.issued), n)
	}
	return ""
}

// make makes the generator, and its clock with it.
func (m *model) make(notBefore time.Time) (err error) {
	worker := m.fixed
	if worker == nil {
		worker = m.held
	}
	m.g, err = core.New(core.Config{
		Layout: m.layout, Worker: worker, Now: m.clock.now, ClockPolicy: m.back, Sequence: m.start,
		MaxWait: 30 * time.Millisecond, NotBefore: notBefore,
	})
	if err == nil && m.misled {
		core.TrustCounter(m.g)
	}
	m.born, m.lead, m.last = m.clock.now(), m.clock.offset, -1
	return err
}

// draw draws n ids and says what is wrong with them.
func (m *model) draw(t *testing.T, n int, lie uint64) string {
	ids := make([]int64, n)
	var err error
	if m.misled {
		core.Lie(m.g, 0, lie)
	}
	if n == 1 {
		ids[0], err = m.g.Next(t.Context())
	} else {
		err = m.g.Fill(t.Context(), ids)
	}
	if err != nil {
		for _, id := range ids {
			if id != 0 {
				return fmt.Sprintf("%d was handed out with %v", id, err)
			}
		}
		if _, logical := m.back.(core.Logical); logical && n == 1 && m.fixed != nil && !m.remade && m.layout.SequenceBits > 0 && m.layout.Tick < 10*time.Millisecond {
			return err.Error()
		}
		return ""
	}
	for i, id := range ids {
		if fault := m.check(id, i > 0); fault != "" {
			return fault
		}
	}
	return ""
}

// check judges one id; inFill says that it follows another of the same Fill.
func (m *model) check(id int64, inFill bool) string {
	p, err := m.layout.Decode(id)
	descends := false
	switch m.back.(type) {
	case core.Rollback, core.Reuse, core.Rotate:
		descends = true
	}
	switch {
	case err != nil:
		return err.Error()
	case m.issued[id]:
		return fmt.Sprintf("%d a second time: %+v", id, p)
	case id <= m.last && (inFill || !descends):
		return fmt.Sprintf("%d after %d", id, m.last)
	case m.fixed == nil && !m.held.allows(p):
		return fmt.Sprintf("outside every grant: %+v", p)
	}
	m.issued[id], m.last = true, id
	if p.Time.After(m.greatest) {
		m.greatest = p.Time
	}
	if m.fixed == nil {
		return ""
	}
	_, rollback := m.back.(core.Rollback)
	ceiling := time.Now().Add(m.lead)
	if p.Worker != 5 || !p.Time.After(m.born.Add(-m.layout.Tick)) && !rollback || p.Time.After(ceiling) {
		return fmt.Sprintf("%+v, born %v, ceiling %v", p, m.born, ceiling)
	}
	return ""
}
