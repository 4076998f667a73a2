package worker_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// simStore is a store that forgets. Between what it reads and what it writes, other requests are
// carried out, or it goes back to an earlier state.
type simStore struct {
	sim *sim
	simState
	history     []simState    // what it had after each write
	begun       bool          // the namespace was made once
	incarnation int           // of the server
	offset      time.Duration // of its clock, within MaxSkew of all others
	locked      int64         // another transaction keeps the record of this worker ID locked
	lockedUntil time.Time
}

type simState struct {
	ns      driver.Namespace
	has     bool // the namespace
	records map[int64]driver.Record
}

// simHistory is how many writes may be forgotten.
const simHistory = 40

func (s *simStore) now() int64 { return time.Now().Add(s.offset).UnixMilli() }

func (s *simStore) read(context.Context, bool) (driver.State, error) {
	st := driver.State{
		Now: s.now(), Server: fmt.Sprint("server ", s.incarnation), Namespace: driver.Namespace{Name: "default"}, Missing: !s.has,
		New: !s.begun, Count: int64(len(s.records)), Records: slices.Collect(maps.Values(s.records)),
	}
	if s.has {
		st.Namespace = s.ns
	}
	return st, nil
}

// fits reports whether a change of what was read can be written.
func (s *simStore) fits(read driver.State, ch driver.Change) bool {
	st, _ := s.read(context.Background(), true)
	if ch.Record == nil {
		return st.Namespace == read.Namespace && st.Missing == read.Missing && st.Count == read.Count
	}
	before := read.Records[slices.IndexFunc(read.Records, func(rec driver.Record) bool { return rec.Worker == ch.Record.Worker })]
	renewal := ch.Record.ClaimID == before.ClaimID
	if s.records[before.Worker] != before || st.Namespace.Floor != read.Namespace.Floor || st.Namespace.Seen != read.Namespace.Seen {
		return false
	}
	if renewal && read.Namespace.Incarnation != read.Server { // the floor is too far ahead to be raised
		return st.Namespace.Incarnation != st.Server && before.Fence > st.Namespace.Floor
	}
	return st.Namespace.Incarnation == st.Server
}

func (s *simStore) transact(workerIDs int64, decide func(driver.State) (driver.Change, error)) (driver.Lease, error) {
	return driver.Transact(context.Background(), decide, s.read, func(_ context.Context, read driver.State, ch driver.Change) (bool, error) {
		if !s.sim.healthy && s.sim.chance(8) {
			s.sim.act()
		}
		if !s.fits(read, ch) || ch.Record != nil && s.isLocked(ch.Record.Worker) {
			return false, errNetwork // Transact would wait for a random time
		}
		switch {
		case ch.Namespace != nil:
			s.ns, s.has, s.begun = *ch.Namespace, true, true
			if s.sim.break_ == noFloor {
				s.ns.Floor = 0
			}
		case ch.Make != nil:
			for id := range workerIDs {
				if _, ok := s.records[id]; !ok && (*ch.Make == driver.MakeAny || *ch.Make == id) {
					s.records[id] = driver.Record{Worker: id, Status: driver.Unused}
					s.ns.Seen++
				}
			}
		default:
			if before := s.records[ch.Record.Worker]; before.ClaimID != "" && before.ClaimID != ch.Record.ClaimID {
				s.sim.faults[takenOver]++
			}
			s.records[ch.Record.Worker] = *ch.Record
		}
		s.commit()
		return true, nil
	})
}

func (s *simStore) commit() {
	s.history = append(s.history, simState{s.ns, s.has, maps.Clone(s.records)})
	s.history = s.history[max(len(s.history)-simHistory, 0):]
}

func (s *simStore) renew(r driver.Renewal) (driver.Lease, error) {
	if s.isLocked(r.Worker) {
		return driver.Lease{}, driver.ErrLocked
	}
	return s.transact(0, func(st driver.State) (driver.Change, error) {
		if s.sim.break_ == expiredRenewal {
			st.Namespace.Since = math.MinInt64
		}
		return r.Decide(st)
	})
}

// change changes a record, as Release and Free do.
func (s *simStore) change(worker int64, decide func(driver.Record) (driver.Record, error)) error {
	if s.isLocked(worker) {
		return driver.ErrLocked
	}
	rec, err := decide(s.records[worker])
	if err == nil {
		s.records[worker] = rec
		s.commit()
	}
	return err
}

// any returns one of the records, if there is one.
func (s *simStore) any() (rec driver.Record) {
	if ids := slices.Sorted(maps.Keys(s.records)); len(ids) > 0 {
		rec = s.records[ids[s.sim.rng.IntN(len(ids))]]
	}
	return rec
}

// free frees a worker ID like an operator, as if the claim's time were over.
func (s *simStore) free() {
	rec := s.any()
	if s.change(rec.Worker, func(rec driver.Record) (driver.Record, error) { return rec.Free(rec.FencingToken) }) == nil {
		s.sim.faults[stolen]++
		s.sim.note("worker ID %d is freed", rec.Worker)
	}
}

// remove deletes a record, unless uncounted records were made, which would hide the deletion.
func (s *simStore) remove() {
	if rec := s.any(); rec.ClaimID != "" && int64(len(s.records)) <= s.ns.Seen {
		delete(s.records, rec.Worker)
		s.commit()
		s.sim.faults[deleted]++
		s.sim.note("the record of worker ID %d is deleted", rec.Worker)
	}
}

// lock keeps a record locked for a while, like a transaction of somebody else.
func (s *simStore) lock() {
	s.locked, s.lockedUntil = s.any().Worker, time.Now().Add(time.Duration(s.sim.rng.Int64N(int64(3*simWindow))))
	s.sim.faults[locked]++
	s.sim.note("the record of worker ID %d is locked", s.locked)
}

func (s *simStore) isLocked(worker int64) bool {
	return !s.sim.healthy && worker == s.locked && time.Now().Before(s.lockedUntil)
}

// raise raises the floor, like an operator who does not trust the store.
func (s *simStore) raise() {
	st, _ := s.read(context.Background(), true)
	if ch, err := st.Raise(0); err == nil {
		s.ns = *ch.Namespace
		s.commit()
		s.sim.faults[raised]++
		s.sim.note("the floor is raised to %d", s.ns.Floor)
	}
}

// forget replaces this server with another one, in the state after an earlier write; or it puts the
// namespace and each record back to such a state separately. Only a floor that is still ahead of the clock
// is not forgotten.
func (s *simStore) forget() {
	if len(s.history) == 0 {
		return
	}
	to := s.sim.rng.IntN(len(s.history))
	past := s.history[to:]
	keeps := func(st simState) bool { return s.ns.Floor <= s.now() || st.has && st.ns.Floor >= s.ns.Floor }
	st, torn := past[0], s.sim.chance(2)
	if torn {
		st = past[s.sim.rng.IntN(len(past))]
	}
	if !keeps(st) {
		return
	}
	s.sim.faults[forgot]++
	s.simState = simState{st.ns, st.has, maps.Clone(st.records)}
	if torn {
		for _, id := range slices.Sorted(maps.Keys(past[len(past)-1].records)) {
			delete(s.records, id)
			if rec, ok := past[s.sim.rng.IntN(len(past))].records[id]; ok {
				s.records[id] = rec
			}
		}
	}
	s.history = s.history[:to+1]
	s.incarnation++
	s.step()
	s.commit()
	s.sim.note("server %d has forgotten, torn: %t, of %d writes: %+v", s.incarnation, torn, len(past), s.ns)
}

// step lets the clock show any other time that is allowed.
func (s *simStore) step() { s.offset = time.Duration(s.sim.rng.Int64N(int64(simSkew + 1))) }
