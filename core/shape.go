package core

import (
	"math"
	"math/bits"
	"time"
)

// shape is a layout that has been checked, with its shifts and limits worked out.
type shape struct {
	layout                                       Layout // with defaults in place
	tickMs                                       uint64
	total                                        uint
	timeShift, rollbackShift, seqShift, dcShift  uint
	workerShift                                  uint
	tickMax, rollbackMax, seqMax, dcMax, workMax uint64 // greatest value of each field
	workerMax                                    uint64 // greatest of datacenter<<WorkerBits | worker
	lastTick                                     uint64 // the last that is issued in
	end                                          time.Time
}

func (l Layout) shape() (*shape, error) {
	l = l.WithDefaults()
	if err := configError(l.faults()); err != nil {
		return nil, err
	}
	s := &shape{
		layout:      l,
		tickMs:      uint64(l.Tick / time.Millisecond),
		total:       uint(l.bits()),
		tickMax:     greatest(l.TimeBits),
		rollbackMax: greatest(l.RollbackBits),
		seqMax:      greatest(l.SequenceBits),
		dcMax:       greatest(l.DatacenterBits),
		workMax:     greatest(l.WorkerBits),
		workerMax:   greatest(l.DatacenterBits + l.WorkerBits),
	}
	if l.SequenceFirst {
		s.seqShift = uint(l.WorkerBits) + uint(l.DatacenterBits)
	} else {
		s.workerShift = uint(l.SequenceBits)
	}
	s.dcShift = s.workerShift + uint(l.WorkerBits)
	s.rollbackShift = uint(l.SequenceBits) + uint(l.WorkerBits) + uint(l.DatacenterBits)
	s.timeShift = s.rollbackShift + uint(l.RollbackBits)
	s.lastTick = s.tickMax
	if l.TimeBits+l.SequenceBits == 64 {
		s.lastTick -= 2 // so that no place is the closed word, and the word cannot overflow
	}
	s.end = addTicks(l.Epoch, s.tickMax, s.tickMs).Add(l.Tick)
	return s, nil
}

// greatest is the greatest value of a field of that many bits.
func greatest(width uint8) uint64 { return 1<<width - 1 }

// spanFits reports whether epoch + 2^timeBits ticks can be said as a time.Time
// without its seconds overflowing, with ample room on both sides.
func spanFits(timeBits uint8, tick time.Duration) bool {
	hi, lo := bits.Mul64(greatest(timeBits), uint64(tick/time.Millisecond))
	if hi >= 1000 {
		return false
	}
	seconds, _ := bits.Div64(hi, lo, 1000)
	return seconds < 1<<60
}

// addTicks is t + ticks, in 128 bits: a time.Duration ends after 292 years.
func addTicks(t time.Time, ticks, tickMs uint64) time.Time {
	hi, lo := bits.Mul64(ticks, tickMs)
	seconds, ms := bits.Div64(hi, lo, 1000)
	return time.Unix(t.Unix()+int64(seconds), int64(t.Nanosecond())+int64(ms)*int64(time.Millisecond)).UTC()
}

// startOf is the instant at which a tick begins.
func (s *shape) startOf(tick uint64) time.Time { return addTicks(s.layout.Epoch, tick, s.tickMs) }

// tickOf is the tick that t falls in. The caller has seen that t lies within
// [Epoch, End).
func (s *shape) tickOf(t time.Time) uint64 {
	seconds := uint64(t.Unix() - s.layout.Epoch.Unix())
	ms := int64(t.Nanosecond()/1e6) - int64(s.layout.Epoch.Nanosecond()/1e6)
	hi, lo := bits.Mul64(seconds, 1000)
	var carry uint64
	if ms < 0 { // t's second is a later one, so this cannot go below zero
		lo, carry = bits.Sub64(lo, uint64(-ms), 0)
		hi -= carry
	} else {
		lo, carry = bits.Add64(lo, uint64(ms), 0)
		hi += carry
	}
	tick, _ := bits.Div64(hi, lo, s.tickMs)
	return tick
}

// tickFrom is the first tick that begins at t or after it.
func (s *shape) tickFrom(t time.Time) uint64 {
	tick := s.tickOf(t)
	if s.startOf(tick).Before(t) && tick < math.MaxUint64 {
		tick++
	}
	return tick
}

// contains reports whether t lies within [Epoch, End).
func (s *shape) contains(t time.Time) bool {
	return !t.Before(s.layout.Epoch) && t.Before(s.end)
}

// same reports whether ids of the two shapes mean the same.
func (s *shape) same(o *shape) bool {
	a, b := s.layout, o.layout
	equal := a.Epoch.Equal(b.Epoch)
	a.Epoch, b.Epoch = time.Time{}, time.Time{}
	return equal && a == b
}
