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

// A Preset is a layout that has a name.
type Preset struct {
	Name        string
	Layout      Layout
	Description string
}

// Presets returns all presets. Those of other systems follow their makers' documents, but
// drop the top bit of the time where it would be the sign bit.
func Presets() []Preset {
	return []Preset{
		{"twitter", Twitter(), "41 time in ms from 2010, 5 datacenter, 5 machine, 12 sequence; the default"},
		{"discord", Discord(), "41 time in ms from 2015, 5 worker (datacenter here), 5 process (machine here), 12 increment"},
		{"instagram", Instagram(), "40 time in ms from 2011, 13 shard (worker ID here), 10 sequence"},
		{"mastodon", Mastodon(), "47 time in ms from 1970, 16 sequence, no worker: for reading ids, or a single generator"},
		{"sonyflake", Sonyflake(), "39 time in 10ms from 2014, 8 sequence, 16 machine (worker ID here), the sequence above the machine"},
		{"tsid", TSID(), "41 time in ms from 2020, 10 node (worker ID here), 12 counter (sequence here): TSIDs of hypersistence and f4b6a3"},
		{"pgedge", PgEdge(), "41 time in ms from 2023, 12 count (sequence here), 10 node (worker ID here): pgEdge's extension snowflake"},
		{"classic2015", Classic2015(), "Twitter's widths from 2015-01-01 in China's time zone, as many Java and Python copies have it"},
		{"seconds", Seconds(), "32 time in seconds from 2020, 10 worker ID, 21 sequence: 2,097,152 ids a second for each worker, to 2156"},
		{"many-workers", ManyWorkers(), "41 time in ms from 2010, 16 worker ID, 6 sequence: 65,536 worker IDs, each with 64 ids a millisecond"},
		{"javascript-safe", JavaScriptSafe(), "41 time in ms from 2020, 6 worker ID, 6 sequence: 53 bits, which a JavaScript number holds"},
	}
}

func unixMilli(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Twitter is the layout of Twitter's ids, and the default for a zero Layout.
func Twitter() Layout { return Layout{}.WithDefaults() }

// Discord is the layout of Discord's ids without the top bit of their time, which is the
// sign bit; it ends in 2084. Discord's worker and process are Datacenter and Worker here.
func Discord() Layout {
	return Layout{Epoch: unixMilli(1420070400000), Tick: time.Millisecond, TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 12}
}

// Instagram is the layout of Instagram's ids without the top bit of their time, which is the
// sign bit; it ends in 2046. Instagram's shard is Worker here.
func Instagram() Layout {
	return Layout{Epoch: unixMilli(1314220021721), Tick: time.Millisecond, TimeBits: 40, WorkerBits: 13, SequenceBits: 10}
}

// Mastodon is the layout of Mastodon's ids without the top bit of their time, which is the
// sign bit. It has no worker field, so only one generator may use it at a time. Mastodon
// itself fills the sequence from a hash and a sequence of the table.
func Mastodon() Layout {
	return Layout{Epoch: unixMilli(0), Tick: time.Millisecond, TimeBits: 47, SequenceBits: 16}
}

// Sonyflake is the layout of Sonyflake's ids: ticks of 10ms, and the sequence above the
// worker; it ends in 2188.
func Sonyflake() Layout {
	return Layout{Epoch: unixMilli(1409529600000), Tick: 10 * time.Millisecond, TimeBits: 39, SequenceBits: 8, WorkerBits: 16, SequenceFirst: true}
}

// TSID is the default layout of the Java libraries hypersistence-tsid and tsid-creator, without the top bit
// of their time, which is the sign bit; it ends in 2089. Their node is Worker here. Their counter, which is
// Sequence here, begins at random.
func TSID() Layout {
	return Layout{Epoch: unixMilli(1577836800000), Tick: time.Millisecond, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
}

// PgEdge is the layout of pgEdge's extension snowflake for PostgreSQL, with the sequence above the worker; it
// ends in 2092. pgEdge's node is Worker here.
func PgEdge() Layout {
	return Layout{Epoch: unixMilli(1672531200000), Tick: time.Millisecond, TimeBits: 41, SequenceBits: 12, WorkerBits: 10, SequenceFirst: true}
}

// Classic2015 has Twitter's widths and the epoch 1420041600000, midnight of 2015-01-01 in
// UTC+8, which many copies of Twitter's generator use.
func Classic2015() Layout {
	return Layout{Epoch: unixMilli(1420041600000), Tick: time.Millisecond, TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 12}
}

// Seconds has ticks of a second from 2020-01-01 and a long sequence, all of which a burst may
// use at once; it ends in 2156.
func Seconds() Layout {
	return Layout{Epoch: unixMilli(1577836800000), Tick: time.Second, TimeBits: 32, WorkerBits: 10, SequenceBits: 21}
}

// ManyWorkers has 65,536 worker IDs, each with 64 ids a millisecond. Its ids have their time where
// Twitter's have it, so that they sort among those; it ends in 2080.
func ManyWorkers() Layout {
	return Layout{Epoch: unixMilli(twitterEpoch), Tick: time.Millisecond, TimeBits: 41, WorkerBits: 16, SequenceBits: 6}
}

// JavaScriptSafe has 53 bits in all, from 2020-01-01, so that JavaScript represents its ids
// exactly. It has 64 worker IDs, each with 64 ids a millisecond; it ends in 2089.
func JavaScriptSafe() Layout {
	return Layout{Epoch: unixMilli(1577836800000), Tick: time.Millisecond, TimeBits: 41, WorkerBits: 6, SequenceBits: 6}
}
