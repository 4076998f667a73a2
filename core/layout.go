package core

import (
	"fmt"
	"math"
	"time"
)

// A Layout says which bits of an id carry what, and what a tick of its time is.
// The zero Layout is Twitter's:
//
//	 63   62 ... 22   21 ... 17     16 ... 12   11 ... 0
//	┌───┬───────────┬─────────────┬───────────┬───────────┐
//	│ 0 │ time      │ datacenter  │ worker    │ sequence  │
//	│   │ 41 bits   │ 5 bits      │ 5 bits    │ 12 bits   │
//	└───┴───────────┴─────────────┴───────────┴───────────┘
//
// The fields stand in the order time, roll-back, datacenter, worker, sequence,
// at the low end of the id; the bits above them are zero. Widths that are all
// zero mean 41, 0, 5, 5 and 12; where any is set, the others are taken as they
// stand. They sum to at most 63, or 64 if Unsigned.
type Layout struct {
	Epoch          time.Time     // tick 0; zero: Twitter's, 2010-11-04T01:42:54.657Z; a whole millisecond
	Tick           time.Duration // zero: 1ms; any whole number of milliseconds
	TimeBits       uint8         // width of the tick number, at least 1
	RollbackBits   uint8         // width of the count of steps back; may be 0
	DatacenterBits uint8         // width of the upper part of the worker number; may be 0
	WorkerBits     uint8         // width of the lower part of the worker number; may be 0
	SequenceBits   uint8         // width of the number within a tick; 0: one id a tick
	SequenceFirst  bool          // the sequence stands above datacenter and worker, as in Sonyflake
	Unsigned       bool          // the sign bit is used as well; such ids sort as uint64 only
}

const twitterEpoch = 1288834974657 // Unix milliseconds

// WithDefaults is the layout with what its zero fields stand for in their place.
func (l Layout) WithDefaults() Layout {
	if l.Epoch.IsZero() {
		l.Epoch = time.UnixMilli(twitterEpoch)
	}
	l.Epoch = l.Epoch.UTC()
	if l.Tick == 0 {
		l.Tick = time.Millisecond
	}
	if l.TimeBits|l.RollbackBits|l.DatacenterBits|l.WorkerBits|l.SequenceBits == 0 {
		l.TimeBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = 41, 5, 5, 12
	}
	return l
}

// Validate reports every fault of the layout in one [ConfigError]: widths that
// do not fit, a tick or an epoch that is no whole millisecond. A layout whose
// time has run out is valid, so that its ids can still be read; [New] refuses it.
func (l Layout) Validate() error {
	_, err := l.shape()
	return err
}

func (l Layout) faults() (faults []FieldError) {
	add := func(field string, value any, format string, args ...any) {
		faults = append(faults, FieldError{"Layout." + field, fmt.Sprint(value), fmt.Sprintf(format, args...)})
	}
	if ns := l.Epoch.Nanosecond(); ns%int(time.Millisecond) != 0 {
		add("Epoch", l.Epoch.Format(time.RFC3339Nano), "must be a whole millisecond")
	}
	if y := l.Epoch.Year(); y < 1 || y > 9999 {
		add("Epoch", l.Epoch.Format(time.RFC3339), "must lie in the years 1 to 9999")
	}
	if l.Tick < time.Millisecond || l.Tick%time.Millisecond != 0 {
		add("Tick", l.Tick, "must be a whole number of milliseconds, at least 1ms")
	}
	if l.TimeBits == 0 {
		add("TimeBits", 0, "must be at least 1")
	}
	limit := 63
	if l.Unsigned {
		limit = 64
	}
	if sum := l.bits(); sum > limit {
		add("TimeBits+RollbackBits+DatacenterBits+WorkerBits+SequenceBits",
			fmt.Sprintf("%d+%d+%d+%d+%d = %d", l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits, sum),
			"must be at most %d", limit)
	} else if l.Tick >= time.Millisecond && l.TimeBits > 0 && !spanFits(l.TimeBits, l.Tick) {
		add("TimeBits", l.TimeBits, "of %v ticks reach farther than a time can say", l.Tick)
	}
	if l.TimeBits == 1 && l.SequenceBits == 63 {
		add("SequenceBits", 63, "must be at most 62 beside one bit of time, or no tick is left to issue in")
	}
	return faults
}

// bits is the number of bits in use; an int, for the sum of five uint8 can pass 255.
func (l Layout) bits() int {
	return int(l.TimeBits) + int(l.RollbackBits) + int(l.DatacenterBits) + int(l.WorkerBits) + int(l.SequenceBits)
}

// IDsPerTick is the number of ids that one worker can make in a tick.
// It is 0 for a layout that is not valid.
func (l Layout) IDsPerTick() int64 {
	s, err := l.shape()
	if err != nil {
		return 0
	}
	return int64(min(s.seqMax, math.MaxInt64-1) + 1)
}

// Workers is the number of worker numbers, those of all datacenters together.
// It is 0 for a layout that is not valid.
func (l Layout) WorkerIDs() int64 {
	s, err := l.shape()
	if err != nil {
		return 0
	}
	return int64(min(s.workerMax, math.MaxInt64-1) + 1)
}

// End is the first instant that no longer fits the time field.
// It is the zero time for a layout that is not valid.
func (l Layout) End() time.Time {
	s, err := l.shape()
	if err != nil {
		return time.Time{}
	}
	return s.end
}

// String says the layout in one line.
func (l Layout) String() string {
	l = l.WithDefaults()
	text := fmt.Sprintf("%d time", l.TimeBits)
	for _, f := range l.fieldsBelowTime() {
		if f.bits > 0 {
			text += fmt.Sprintf(" | %d %s", f.bits, f.name)
		}
	}
	text += fmt.Sprintf(", ticks of %v since %s", l.Tick, l.Epoch.Format("2006-01-02T15:04:05.999Z07:00"))
	if l.Unsigned {
		text += ", unsigned"
	}
	return text
}

type field struct {
	name string
	bits uint8
}

// fieldsBelowTime lists the fields from high to low, those of no width too.
func (l Layout) fieldsBelowTime() []field {
	rollback, seq := field{"roll-back", l.RollbackBits}, field{"sequence", l.SequenceBits}
	dc, worker := field{"datacenter", l.DatacenterBits}, field{"worker", l.WorkerBits}
	if l.SequenceFirst {
		return []field{rollback, seq, dc, worker}
	}
	return []field{rollback, dc, worker, seq}
}
