package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-299c1d6b/snowkey/core"
)

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
