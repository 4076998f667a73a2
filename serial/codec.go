package serial

import (
	"math/bits"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A Codec is a Format that has been checked and prepared. Make it with New; it may be
// used by many goroutines at once.
type Codec struct {
	format     Format // with defaults in place
	zone       zone
	epoch      int64 // Unix seconds
	epochMs    uint64
	tickMs     uint64
	total      uint // bits in use
	timeShift  uint
	lastTick   uint64
	parts      [3]part // roll-back, worker and sequence, in the order of the layout
	n          int     // how many there are
	yearDigits int
	width      int
}

// A part is a field of the layout, and a group of digits of the serial.
type part struct {
	name   string
	shift  uint
	max    uint64
	digits int
}

// New prepares a format.
func New(f Format) (*Codec, error) {
	c := new(Codec)
	if err := c.compile(f); err != nil {
		return nil, err
	}
	return c, nil
}

// unmade is the error of a Codec that does not come from New.
func unmade() error {
	return configError([]core.FieldError{{Field: "Codec", Value: "zero", Reason: "must be made by New"}})
}

// Format is the format with what its zero fields stand for in their place.
func (c *Codec) Format() Format {
	if c == nil {
		return Format{}
	}
	return c.format
}

// Width is how many characters each serial has.
func (c *Codec) Width() int {
	if c == nil {
		return 0
	}
	return c.width
}

func (c *Codec) compile(f Format) error {
	faults := f.faults()
	f.Layout = f.Layout.WithDefaults()
	if f.Location == nil {
		f.Location = time.UTC
	}
	c.format = f
	if f.Layout.Validate() != nil {
		return configError(faults)
	}
	c.measure(f.Layout)
	first, _ := c.instant(0)
	last, _ := c.instant(c.lastTick)
	zone, change := newZone(f.Location, first, last)
	if !zone.fixed && !f.Fold && f.Location != time.Local { // which is refused whatever it is
		faults = append(faults, core.FieldError{Field: "Location", Value: f.Location.String(), Reason: change + ", so that a time may come twice: set Fold, or take UTC"})
	}
	c.zone = zone
	low, high := first-reach, last+reach // no clock shows less or more
	if zone.fixed {
		low, high = first+zone.offset, last+zone.offset
	}
	if low < yearZero {
		faults = append(faults, core.FieldError{Field: "Layout.Epoch", Value: f.Layout.Epoch.Format(time.RFC3339), Reason: "lies before the year 0 in " + f.Location.String()})
		return configError(faults)
	}
	day, _ := floorDiv(high, secondsPerDay)
	year, _, _ := date(day)
	c.yearDigits = max(4, digits(year))
	c.width = c.length()
	return configError(faults)
}

// measure works out where the fields stand.
func (c *Codec) measure(l core.Layout) {
	c.epoch, c.epochMs = l.Epoch.Unix(), uint64(l.Epoch.Nanosecond()/1e6)
	c.tickMs = uint64(l.Tick / time.Millisecond)
	number := uint(l.DatacenterBits) + uint(l.WorkerBits)
	sequence := uint(l.SequenceBits)
	worker := part{name: "worker", max: 1<<number - 1, shift: sequence}
	seq := part{name: "sequence", max: 1<<sequence - 1}
	order := [2]part{worker, seq}
	if l.SequenceFirst {
		worker.shift, seq.shift = 0, number
		order = [2]part{seq, worker}
	}
	c.n = 0
	for _, p := range [3]part{{name: "rollback", max: 1<<l.RollbackBits - 1, shift: number + sequence}, order[0], order[1]} {
		if p.max > 0 {
			p.digits = digits(p.max)
			c.parts[c.n] = p
			c.n++
		}
	}
	c.timeShift = number + sequence + uint(l.RollbackBits)
	c.total = c.timeShift + uint(l.TimeBits)
	c.lastTick = 1<<l.TimeBits - 1
}

// length adds the widths up.
func (c *Codec) length() int {
	groups := 1 + c.n
	width := len(c.format.Prefix) + c.timeDigits()
	if c.format.Prefix != "" {
		groups++
	}
	if c.format.Fold {
		width++
	}
	for _, p := range c.parts[:c.n] {
		width += p.digits
	}
	if c.format.Check {
		groups++
		width += c.format.Scheme.Width()
	}
	return width + (groups-1)*len(c.format.Separator)
}

func (c *Codec) timeDigits() int { return c.yearDigits + 13 }

// instant is when a tick begins: a Unix time, and milliseconds.
func (c *Codec) instant(tick uint64) (sec int64, ms uint64) {
	hi, lo := bits.Mul64(tick, c.tickMs)
	lo, carry := bits.Add64(lo, c.epochMs, 0)
	s, ms := bits.Div64(hi+carry, lo, 1000)
	return c.epoch + int64(s), ms
}

// digits is how many decimal digits a number has.
func digits(n uint64) int {
	d := 1
	for ; n > 9; n /= 10 {
		d++
	}
	return d
}
