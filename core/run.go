package core

import (
	"math"
	"sync"
	"sync/atomic"
)

// closedWord is the word of a run that has ended; no id is ever issued from it.
const closedWord = math.MaxUint64

// A run is the use of one grant by a generator. Its word is the next place in
// time to issue: tick<<SequenceBits | sequence.
type run struct {
	shape *shape
	grant *Grant
	base  uint64 // the worker's bits in place
	floor uint64 // the grant's first tick: durable, so ids may stand there although the clock is behind it
	first uint64 // the word at the beginning
	ahead uint64 // ticks beyond the ceiling that may be borrowed

	_       [64]byte // the word has a cache line of its own
	word    atomic.Uint64
	_       [56]byte
	skipped atomic.Uint64 // places passed over; what is issued follows from it

	closing sync.Once
	final   uint64 // the word at the end
}

func newRun(s *shape, grant *Grant, first uint64, pol policy) *run {
	r := &run{shape: s, grant: grant, base: uint64(grant.worker) << s.workerShift}
	if grant.bound {
		r.floor = grant.from
		r.ahead = uint64(pol.ahead / s.layout.Tick)
	}
	r.first = max(first, grant.from) << s.layout.SequenceBits
	r.word.Store(r.first)
	return r
}

// last is the last tick that may be issued in when the clock allows `ceiling`.
func (r *run) last(ceiling uint64) uint64 {
	last := min(max(ceiling, r.floor)+r.ahead, r.shape.lastTick)
	if until := r.grant.until.Load(); until <= last {
		if until == 0 {
			return 0 // tick 0 is never issued: a generator begins after the tick it was made in
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
	r.closing.Do(func() { r.final = r.word.Swap(closedWord) })
	return (r.final + r.shape.seqMax) >> r.shape.layout.SequenceBits
}

// place is the next place to issue, or would be, had the run not been closed.
func (r *run) place() uint64 {
	if word := r.word.Load(); word != closedWord {
		return word
	}
	r.close() // waits for the one that closes it
	return r.final
}

// spans collects what a Fill has taken, until it is complete.
type spans struct {
	few  [8]span // enough without an allocation: what joins on is one span
	n    int
	more []span
}

type span struct {
	run     *run
	from, n uint64
}

func (s *spans) add(r *run, from, n uint64) {
	if last := s.last(); last != nil && last.run == r && last.from+last.n == from {
		last.n += n
		return
	}
	if s.n < len(s.few) {
		s.few[s.n] = span{r, from, n}
		s.n++
		return
	}
	s.more = append(s.more, span{r, from, n})
}

func (s *spans) last() *span {
	switch {
	case len(s.more) > 0:
		return &s.more[len(s.more)-1]
	case s.n > 0:
		return &s.few[s.n-1]
	}
	return nil
}

func (s *spans) write(ids []int64) {
	for _, part := range [][]span{s.few[:s.n], s.more} {
		for _, p := range part {
			for i := range ids[:p.n] {
				ids[i] = p.run.id(p.from + uint64(i))
			}
			ids = ids[p.n:]
		}
	}
}
