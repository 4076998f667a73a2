package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The simulation runs leases and generators, the real code, over a store that forgets, and whose
// network does everything that networks do. Three processes with clocks of their
// own share two worker IDs. All of it happens in one goroutine of a synctest bubble,
// in an order that follows from the seed alone. What other processes do between a
// request, its effect and its answer, they do inside the call: so the code under
// test is interrupted at all the places that matter.

// simLayout has few ids a tick, and ticks that are longer than a bound is precise. A
// third of the seeds has the worker IDs of one datacenter of two, and half of them has
// roll-back bits; ticks are of 1 and of 60 ms as well, up to half a window.
var simLayout = core.Layout{Epoch: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), Tick: 10 * time.Millisecond, TimeBits: 42, WorkerBits: 1, SequenceBits: 3}

const (
	simProcesses = 3
	simSteps     = 150
	simWindow    = 120 * time.Millisecond
	simSkew      = 60 * time.Millisecond
)

var errNetwork = errors.New("the network is down")

type sim struct {
	rng     *rand.Rand
	break_  breakage
	layout  core.Layout
	center  *int64 // Config.Datacenter
	store   *simStore
	procs   []*proc
	late    []func() // requests on their way
	depth   int
	healthy bool
	issued  map[int64]int // id → process
	twice   string
	stuck   string   // who gets no id although all is well
	trace   uint64   // of everything that happened
	log     []string // when wanted
	logged  bool
	faults  [faultKinds]int
	changes map[string]int // of a lease's state, as "held lost"
}

// faultKinds are counted, to check that a run has all of them.
const (
	lostRequest = iota
	lostReply
	lateRequest
	twiceRequest
	stolen
	crashed
	paused
	clockStepped
	released
	takenOver
	rolledBack
	forgot
	deleted
	raised
	locked
	healed
	faultKinds
)

// A proc is a process with its view of the network.
type proc struct {
	sim     *sim
	id      int
	offset  time.Duration // of its clock
	lease   *worker.SteppedLease
	gen     *core.Generator
	logical bool // its ClockPolicy is one that never waits for the clock
	due     time.Time
	idle    time.Time // it is paused until then
	cut     time.Time // and is without a network until then
	busy    bool      // in its background's step
	calls   int       // to the store, under way
	zombies []*core.Generator
}

func newSim(seed uint64, b breakage, logged bool) *sim {
	s := &sim{rng: rand.New(rand.NewPCG(seed, 0x736e6f77)), break_: b, layout: simLayout, issued: make(map[int64]int), changes: make(map[string]int), logged: logged}
	if s.chance(3) {
		s.layout.DatacenterBits, s.center = 1, ref(int64(s.rng.IntN(2)))
	}
	if s.chance(2) {
		s.layout.RollbackBits = 1
	}
	s.layout.Tick = []time.Duration{time.Millisecond, simLayout.Tick, simLayout.Tick, simLayout.Tick, simLayout.Tick, simWindow / 2}[s.rng.IntN(6)]
	s.layout.SequenceFirst = s.chance(4)
	s.store = &simStore{sim: s, simState: simState{records: make(map[int64]driver.Record)}}
	for i := range simProcesses {
		s.procs = append(s.procs, &proc{sim: s, id: i})
		s.procs[i].set()
	}
	return s
}

func (s *sim) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, c := range []byte(text) {
		s.trace = (s.trace ^ uint64(c)) * 0x100000001b3
	}
	if s.logged {
		s.log = append(s.log, fmt.Sprintf("%10.3fms %*s%s", float64(time.Now().UnixMicro()%1e9)/1000, 2*s.depth, "", text))
	}
}

// chance is true once in n.
func (s *sim) chance(n int) bool { return s.rng.IntN(n) == 0 }

// span is a random duration between −d and d.
func (s *sim) span(d time.Duration) time.Duration {
	return time.Duration(s.rng.Int64N(2*int64(d)+1)) - d
}

// sleep lets some time pass, and waits until everything that is due is done: whether a context is done
// must not depend on which goroutine runs first.
func (s *sim) sleep(most time.Duration) {
	time.Sleep(time.Duration(s.rng.Int64N(int64(most))))
	synctest.Wait()
}

func (s *sim) run() {
	for range simSteps {
		if s.twice != "" {
			return
		}
		s.act()
	}
	if s.break_ == sound && s.twice == "" {
		s.heal()
	}
	for _, p := range s.procs {
		p.leave()
	}
}

// heal lets the network work, and all processes but one end. That one gets an id soon, from
// the generator that it has, whatever came before; or, if that may wait for its clock as long as it
// likes, from a new one. Then it gets another when the fence that it had is long past.
func (s *sim) heal() {
	s.healthy, s.late = true, nil
	var last *proc
	for _, p := range s.procs {
		if last == nil && p.lease != nil && !p.busy && (p.logical || p.calls == 0) {
			if last = p; !p.logical {
				p.leave()
			}
			continue
		}
		p.crash()
	}
	if last == nil {
		return
	}
	s.faults[healed]++
	last.cut, last.idle = time.Time{}, time.Time{}
	last.set()
	// Claims begin at the floor, and end after it.
	within := simHeals + max(time.Until(time.UnixMilli(s.store.ns.Floor)), 0)
	for _, pause := range []time.Duration{time.Millisecond, 3 * simWindow} {
		for paused := time.Now(); time.Since(paused) < pause; s.sleep(10 * time.Millisecond) {
			last.live()
		}
		began := time.Now()
		for before := len(s.issued); len(s.issued) == before; s.sleep(10 * time.Millisecond) {
			last.live()
			if time.Since(began) > within {
				s.stuck = fmt.Sprintf("process %d got no id within %v, though nothing fails", last.id, within)
				if last.lease != nil {
					s.stuck += fmt.Sprintf(": %+v", last.lease.Stats())
				}
				s.note("STUCK %s", s.stuck)
				return
			}
		}
	}
}

// simHeals is how soon ids are issued again: a claim may have to wait for the fences of those that
// have crashed, or for a floor to come nearer, and is made half a second later at the latest.
const simHeals = 2*(simWindow+simSkew) + time.Second

// act does one random action.
func (s *sim) act() {
	if s.depth > 3 {
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	p := s.procs[s.rng.IntN(len(s.procs))]
	switch n := s.rng.IntN(100); {
	case n < 18:
		s.sleep(30 * time.Millisecond)
	case n < 20:
		s.sleep(400 * time.Millisecond)
	case n < 72:
		p.live()
	case n < 78:
		if len(s.late) > 0 {
			i := s.rng.IntN(len(s.late))
			request := s.late[i]
			s.late = append(s.late[:i], s.late[i+1:]...)
			request()
		}
	case n < 82:
		s.faults[clockStepped]++
		p.offset += s.span([]time.Duration{10 * time.Millisecond, 300 * time.Millisecond, 5 * time.Second, 2 * time.Hour}[s.rng.IntN(4)])
		if s.chance(2) {
			p.set()
		}
		s.note("%d: its clock is now %v off", p.id, p.offset)
	case n < 83:
		s.store.step()
		s.note("the store's clock is now %v off", s.store.offset)
	case n < 85:
		s.store.forget()
	case n < 87:
		s.faults[paused]++
		p.idle = time.Now().Add(time.Duration(s.rng.Int64N(int64(600 * time.Millisecond))))
	case n < 89:
		p.cut = time.Now().Add(time.Duration(s.rng.Int64N(int64(600 * time.Millisecond))))
	case n < 91:
		s.store.free()
	case n < 92:
		s.store.remove()
	case n < 93:
		if s.chance(3) {
			s.store.raise()
		} else {
			s.store.lock()
		}
	case n < 95:
		p.crash()
	case n < 97:
		p.leave()
	case len(p.zombies) > 0:
		p.draw(p.zombies[s.rng.IntN(len(p.zombies))])
	}
}

func (p *proc) now() time.Time { return time.Now().Add(p.offset) }

// set sets the clock right.
func (p *proc) set() { p.offset = time.Duration(p.sim.rng.Int64N(int64(simSkew + 1))) }

// live does what the process has to do.
func (p *proc) live() {
	if time.Now().Before(p.idle) {
		return
	}
	if p.lease == nil {
		if !p.busy {
			p.join()
		}
		return
	}
	if !p.busy && !time.Now().Before(p.due) {
		p.busy = true
		p.due = time.Now().Add(p.lease.Step())
		p.busy = false
	}
	if p.gen != nil {
		p.draw(p.gen)
	}
}

func (p *proc) join() {
	p.busy = true
	defer func() { p.busy = false }()
	window := simWindow
	if p.sim.break_ == noFence {
		window = 100 * time.Hour
	}
	lease, err := worker.AcquireStepped(context.Background(), p, worker.Config{
		Layout: p.sim.layout, Datacenter: p.sim.center, FenceWindow: window, RenewInterval: 40 * time.Millisecond,
		ClaimWait: -1, MaxSkew: simSkew, Now: p.now,
	}, p.sim.rng.Float64, func(from, to string) { p.sim.changes[from+" "+to]++ })
	if err != nil {
		return
	}
	gen, err := p.generator(lease)
	if err != nil {
		_ = lease.Release(context.Background())
		return
	}
	p.lease, p.gen, p.due = lease, gen, time.Now()
}

func (p *proc) generator(lease *worker.SteppedLease) (*core.Generator, error) {
	ways := []core.ClockPolicy{nil, core.Rotate{}, core.Logical{Detached: true}, core.Logical{MaxAhead: time.Hour}, core.Reuse{Window: time.Hour}}
	if p.sim.layout.RollbackBits > 0 {
		ways = append(ways, core.Rollback{}, core.Rollback{}, core.Rollback{}, core.Rollback{}, core.Rollback{})
	}
	way := p.sim.rng.IntN(len(ways))
	if p.sim.healthy {
		way = 0
	}
	back := ways[way]
	var after time.Time // as of a MAX(id)
	if !p.sim.healthy && p.sim.chance(4) {
		after = p.now().Add(p.sim.span(100 * time.Millisecond))
	}
	gen, err := core.New(core.Config{Worker: lease, Now: p.now, ClockPolicy: back, NotBefore: after, MaxWait: time.Millisecond, MaxJump: 1000 * time.Hour})
	if err != nil {
		p.sim.note("%d: %v", p.id, err)
	} else {
		p.logical = (way == 0 || way == 2 || way == 3) && after.IsZero()
	}
	return gen, err
}

// draw takes a few ids.
func (p *proc) draw(gen *core.Generator) {
	ids := make([]int64, 1+p.sim.rng.IntN(12))
	var err error
	block := p.sim.chance(3)
	if block {
		err = gen.Fill(context.Background(), ids)
	}
	for i, id := range ids {
		if !block {
			id, err = gen.Next(context.Background())
		}
		if err != nil {
			break
		}
		ids[i] = id
		if owner, ok := p.sim.issued[id]; ok && p.sim.twice == "" {
			parts, _ := p.sim.layout.Decode(id)
			p.sim.twice = fmt.Sprintf("%+v was issued by process %d and by %d", parts, owner, p.id)
			p.sim.note("DUPLICATE %s", p.sim.twice)
		}
		parts, _ := p.sim.layout.Decode(id)
		if p.sim.center != nil && parts.Datacenter != *p.sim.center && p.sim.twice == "" {
			p.sim.twice = fmt.Sprintf("%+v is another datacenter's", parts)
		}
		if parts.Rollback > 0 {
			p.sim.faults[rolledBack]++
		}
		p.sim.issued[id] = p.id
	}
	p.sim.note("%d: ids %d to %d of %d, %v", p.id, ids[0], ids[len(ids)-1], len(ids), err)
}

// crash ends the process for the store and the checks, but keeps its generator for
// goroutines that were paused in it.
func (p *proc) crash() {
	if p.busy || p.lease == nil {
		return
	}
	p.sim.faults[crashed]++
	p.sim.note("%d: crashes", p.id)
	if p.gen != nil {
		p.zombies = append(p.zombies, p.gen)
	}
	p.lease, p.gen = nil, nil
}

func (p *proc) leave() {
	if p.busy || p.calls > 0 || p.lease == nil {
		return
	}
	p.busy = true
	defer func() { p.busy = false }()
	p.sim.faults[released]++
	p.sim.note("%d: releases", p.id)
	lease, gen := p.lease, p.gen
	err := lease.Release(context.Background())
	p.sim.note("%d: released, %v", p.id, err)
	if p.lease == lease {
		p.lease, p.gen = nil, nil
	}
	if gen != nil {
		p.draw(gen) // which must give nothing
	}
}
