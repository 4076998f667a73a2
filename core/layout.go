package core

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// A Layout defines the bit fields of an id, and the unit of its time.
// The zero Layout is Twitter's:
//
//	 63   62 ... 22   21 ... 17     16 ... 12   11 ... 0
//	┌───┬───────────┬─────────────┬───────────┬───────────┐
//	│ 0 │ time      │ datacenter  │ machine   │ sequence  │
//	│   │ 41 bits   │ 5 bits      │ 5 bits    │ 12 bits   │
//	└───┴───────────┴─────────────┴───────────┴───────────┘
//
// From high to low, the fields are time, roll-back, worker ID and sequence. The worker ID may be
// divided into datacenter and machine. The fields occupy the low bits of the id; the bits above them
// are zero. If all widths are zero, they
// default to 41, 0, 5, 5 and 12; if any is set, the others are used as they are. Their sum is
// at most 63, or 64 if Unsigned.
type Layout struct {
	Epoch          time.Time     // start of tick 0, a whole millisecond; zero: Twitter's, 2010-11-04T01:42:54.657Z
	Tick           time.Duration // unit of time, a whole number of milliseconds; zero: 1ms
	TimeBits       uint8         // width of the tick number; at least 1
	RollbackBits   uint8         // width of the roll-back count, see [Rollback]; may be 0
	DatacenterBits uint8         // width of the upper part of the worker ID; may be 0
	WorkerBits     uint8         // width of the lower part of the worker ID; may be 0
	SequenceBits   uint8         // width of the sequence within a tick; 0: one id per tick
	SequenceFirst  bool          // place the sequence above datacenter and worker, as Sonyflake does
	Unsigned       bool          // use the sign bit too; such ids sort as uint64 only
}

const twitterEpoch = 1288834974657 // Unix milliseconds

// WithDefaults returns the layout with its zero fields replaced by their defaults.
func (l Layout) WithDefaults() Layout {
	if l.Epoch.IsZero() {
		l.Epoch = time.UnixMilli(twitterEpoch)
	}
	l.Epoch = l.Epoch.Round(0).UTC() // so that equal layouts are ==
	if l.Tick == 0 {
		l.Tick = time.Millisecond
	}
	if l.TimeBits|l.RollbackBits|l.DatacenterBits|l.WorkerBits|l.SequenceBits == 0 {
		l.TimeBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = 41, 5, 5, 12
	}
	return l
}

// Validate returns a [ConfigError] that lists all invalid fields, or nil: the widths must fit,
// tick and epoch must be whole milliseconds. A layout whose time has run out is valid, so that
// its ids can still be decoded; only [New] rejects it.
func (l Layout) Validate() error { return configError(l.WithDefaults().check()...) }

// check returns the invalid fields of a layout with defaults.
func (l Layout) check() (fields []FieldError) {
	add := func(field string, value any, format string, args ...any) {
		fields = append(fields, FieldError{"Layout." + field, fmt.Sprint(value), fmt.Sprintf(format, args...)})
	}
	if ns := l.Epoch.Nanosecond(); ns%int(time.Millisecond) != 0 {
		add("Epoch", l.Epoch.Format(time.RFC3339Nano), "must be a whole millisecond")
	}
	if y := l.Epoch.Year(); y < 1 || y > 9999 {
		add("Epoch", l.Epoch.Format(time.RFC3339), "must be in the years 1 to 9999")
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
	// As an int: the sum of five uint8 may exceed 255.
	sum := int(l.TimeBits) + int(l.RollbackBits) + int(l.DatacenterBits) + int(l.WorkerBits) + int(l.SequenceBits)
	if sum > limit {
		add("TimeBits+RollbackBits+DatacenterBits+WorkerBits+SequenceBits",
			fmt.Sprintf("%d+%d+%d+%d+%d = %d", l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits, sum),
			"must be at most %d", limit)
	} else if l.Tick >= time.Millisecond && l.TimeBits > 0 && !endFits(l.TimeBits, l.Tick) {
		add("TimeBits", l.TimeBits, "with ticks of %v, ids reach farther than a time can express", l.Tick)
	}
	if l.TimeBits == 1 && l.SequenceBits == 63 {
		add("SequenceBits", 63, "must be at most 62 with one bit of time, or no tick is left to issue ids in")
	}
	return fields
}

// IDsPerTick returns the number of ids that one worker can issue in a tick.
// It is 0 for an invalid layout.
func (l Layout) IDsPerTick() int64 {
	c, err := l.compile()
	if err != nil {
		return 0
	}
	return int64(min(c.sequenceMax, math.MaxInt64-1) + 1)
}

// WorkerIDs returns the number of worker IDs, of all datacenters together.
// It is 0 for an invalid layout.
func (l Layout) WorkerIDs() int64 {
	c, err := l.compile()
	if err != nil {
		return 0
	}
	return int64(min(c.workerIDMax, math.MaxInt64-1) + 1)
}

// End returns the first instant after the layout's time: no id can carry it.
// It is the zero time for an invalid layout.
func (l Layout) End() time.Time {
	c, err := l.compile()
	if err != nil {
		return time.Time{}
	}
	return c.end
}

// compiledLayout is a valid Layout with defaults, and with shifts and limits precomputed.
type compiledLayout struct {
	Layout
	tickMs                                                      uint64
	used                                                        uint // width of all fields together
	timeShift, rollbackShift, sequenceShift                     uint
	datacenterShift, workerShift                                uint
	tickMax, rollbackMax, sequenceMax, datacenterMax, workerMax uint64 // greatest value of each field
	workerIDMax                                                 uint64 // greatest datacenter<<WorkerBits | worker
	usableMax                                                   uint64 // greatest tick in which ids are issued
	end                                                         time.Time
}

// compile checks the layout.
func (l Layout) compile() (c compiledLayout, err error) {
	l = l.WithDefaults()
	if err := configError(l.check()...); err != nil {
		return c, err
	}
	c = compiledLayout{
		Layout:        l,
		tickMs:        uint64(l.Tick / time.Millisecond),
		tickMax:       maxValue(l.TimeBits),
		rollbackMax:   maxValue(l.RollbackBits),
		sequenceMax:   maxValue(l.SequenceBits),
		datacenterMax: maxValue(l.DatacenterBits),
		workerMax:     maxValue(l.WorkerBits),
		workerIDMax:   maxValue(l.DatacenterBits + l.WorkerBits),
	}
	if l.SequenceFirst {
		c.sequenceShift = uint(l.WorkerBits) + uint(l.DatacenterBits)
	} else {
		c.workerShift = uint(l.SequenceBits)
	}
	c.datacenterShift = c.workerShift + uint(l.WorkerBits)
	c.rollbackShift = uint(l.SequenceBits) + uint(l.WorkerBits) + uint(l.DatacenterBits)
	c.timeShift = c.rollbackShift + uint(l.RollbackBits)
	c.used = c.timeShift + uint(l.TimeBits)
	c.usableMax = c.tickMax
	if l.TimeBits+l.SequenceBits == 64 {
		c.usableMax -= 2 // so that no slot equals closedCursor, and the cursor cannot overflow
	}
	c.end = c.startOf(c.tickMax).Add(l.Tick)
	return c, nil
}

func maxValue(bits uint8) uint64 { return 1<<bits - 1 }

// endFits reports whether epoch + 2^timeBits ticks fits a time.Time, with ample room on both
// sides.
func endFits(timeBits uint8, tick time.Duration) bool {
	hi, lo := bits.Mul64(maxValue(timeBits), uint64(tick/time.Millisecond))
	if hi >= 1000 {
		return false
	}
	seconds, _ := bits.Div64(hi, lo, 1000)
	return seconds < 1<<60
}

// startOf returns the beginning of a tick. It computes in 128 bits: a time.Duration ends after 292 years.
func (c *compiledLayout) startOf(tick uint64) time.Time {
	hi, lo := bits.Mul64(tick, c.tickMs)
	seconds, ms := bits.Div64(hi, lo, 1000)
	return time.Unix(c.Epoch.Unix()+int64(seconds), int64(c.Epoch.Nanosecond())+int64(ms)*int64(time.Millisecond)).UTC()
}

// tickOf returns the tick that contains t, which must be within [Epoch, End).
func (c *compiledLayout) tickOf(t time.Time) uint64 {
	seconds := uint64(t.Unix() - c.Epoch.Unix())
	ms := int64(t.Nanosecond()/1e6) - int64(c.Epoch.Nanosecond()/1e6)
	hi, lo := bits.Mul64(seconds, 1000)
	var carry uint64
	if ms < 0 { // then t's second is a later one: the difference stays positive
		lo, carry = bits.Sub64(lo, uint64(-ms), 0)
		hi -= carry
	} else {
		lo, carry = bits.Add64(lo, uint64(ms), 0)
		hi += carry
	}
	tick, _ := bits.Div64(hi, lo, c.tickMs)
	return tick
}

// tickFrom returns the first tick that begins at t or later.
func (c *compiledLayout) tickFrom(t time.Time) uint64 {
	tick := c.tickOf(t)
	if c.startOf(tick).Before(t) && tick < math.MaxUint64 {
		tick++
	}
	return tick
}

// fenceTick returns the first tick that a fence at t forbids.
func (c *compiledLayout) fenceTick(t time.Time) uint64 {
	switch {
	case !t.After(c.Epoch):
		return 0
	case !t.Before(c.end):
		return c.usableMax + 1
	}
	return min(c.tickFrom(t), c.usableMax+1)
}

// firstSlot returns the first slot of a tick, or the slot after the last one if the layout
// does not reach so far.
func (c *compiledLayout) firstSlot(tick uint64) uint64 {
	return min(tick, c.usableMax+1) << c.SequenceBits
}

// contains reports whether t is within [Epoch, End).
func (c *compiledLayout) contains(t time.Time) bool { return !t.Before(c.Epoch) && t.Before(c.end) }

// checkWorker returns an error if the layout has no such worker ID.
func (c *compiledLayout) checkWorker(worker int64) []FieldError {
	if worker >= 0 && uint64(worker) <= c.workerIDMax {
		return nil
	}
	return []FieldError{{"Worker", fmt.Sprint(worker), fmt.Sprintf("must be 0 to %d in this layout (%d datacenter and %d worker bits)", c.workerIDMax, c.DatacenterBits, c.WorkerBits)}}
}
