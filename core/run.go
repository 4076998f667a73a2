package core

import (
	"math"
	"sync"
	"sync/atomic"
)

// closedWord is the word of a run that has ended; no id is ever issued from it.
const closedWord = math.MaxUint64

// A run is the use of one grant by a generator, under one value of the
// roll-back field. Its word is the next place in time to issue:
// tick<<SequenceBits | sequence.
type run struct {
	shape    *shape
	grant    *Grant
	rollback uint64
	base     uint64 // the worker's and the roll-back's bits in place
	granted  int64  // the grant's first tick carried on by the monotonic clock: where it stands at an elapsed time of 0
	first    uint64 // the word at the beginning
	ahead    uint64 // ticks beyond the ceiling that may be borrowed
	left     *leftovers
	lossTold atomic.Bool

	_      [64]byte // the word has a cache line of its own
	word   atomic.Uint64
	_      [56]byte
	reused atomic.Uint64 // places passed over and issued after all

	closing sync.Once
	final   uint64 // the word at the end
}

// newRun begins at the tick `first`, or at the grant's first if that is later, and
// never at tick 0: so there is always a place before the first.
func newRun(s *shape, grant *Grant, rollback, first uint64, pol policy) *run {
	r := &run{
		shape: s, grant: grant, rollback: rollback,
		granted: noLine,
		base:    rollback<<s.rollbackShift | uint64(grant.worker)<<s.workerShift,
	}
	if grant.bound {
		r.ahead = uint64(pol.ahead / s.layout.Tick)
	}
	if pol.answer == reuse {
		r.left = newLeftovers(uint64(pol.window / s.layout.Tick))
	}
	r.first = s.wordAt(max(first, grant.from, 1))
	r.word.Store(r.first)
	return r
}

// wordAt is the first place of a tick; for one that is never issued in, the place
// behind the last.
func (s *shape) wordAt(tick uint64) uint64 {
	return min(tick, s.lastTick+1) << s.layout.SequenceBits
}

// last is the last tick that may be issued in when the clock allows `ceiling`.
func (r *run) last(ceiling uint64) uint64 {
	last := min(ceiling+r.ahead, r.shape.lastTick)
	if until := r.grant.until.Load(); until <= last {
		if until == 0 {
			return 0 // tick 0 is never issued: a run begins at 1 or later
		}
		last = until - 1
	}
	return last
}

// id puts together the id of a place in time.
func (r *run) id(place uint64) int64 {
	s := r.shape
	return int64(place>>s.layout.SequenceBits<<s.timeShift | place&s.seqMax<<s.seqShift | r.base)
}

// close ends the run and gives the first tick it never issued in. Whoever finds
// the closed word afterwards issues nothing.
func (r *run) close() (unused uint64) {
	r.closing.Do(func() {
		r.final = r.word.Swap(closedWord)
		if r.left != nil {
			r.left.close()
		}
	})
	return (r.final-1)>>r.shape.layout.SequenceBits + 1
}

// place is the next place to issue, or would be, had the run not been closed.
func (r *run) place() uint64 {
	if word := r.word.Load(); word != closedWord {
		return word
	}
	r.close() // waits for the one that closes it
	return r.final
}

// passed is how many places the run has come across, and how many of those left
// behind it has issued after all.
func (r *run) passed() uint64 { return r.place() - r.first + r.reused.Load() }
