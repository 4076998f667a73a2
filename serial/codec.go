package serial

import (
	"errors"
	"math/bits"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Config configures a [Codec]. The zero value writes IDs of Twitter's layout in UTC,
// without prefix and check characters.
type Config struct {
	// Prefix of each serial: at most 32 visible ASCII characters. It may end in
	// digits, because all parts have a fixed width. Zero: none.
	Prefix string
	// Layout of the IDs. Zero: Twitter's.
	Layout core.Layout
	// Location is the time zone of date and time. A zone whose offset changes between
	// the layout's first and last tick needs Fold. time.Local is an error, because it
	// differs between machines. nil: UTC.
	Location *time.Location
	// Fold adds a digit after the time: 0, or 1 if clocks were set back and show that
	// time again. It permits a Location with daylight saving time.
	Fold bool
	// Separator between the parts: at most 4 ASCII punctuation characters. Zero: none.
	Separator string
	// Check says which check characters end the serial. They are computed from all digits
	// after the prefix. Zero: none.
	Check Scheme
}

const (
	maxPrefix    = 32
	maxSeparator = 4
)

// check fills in the defaults, and returns the errors that do not depend on how long
// the layout lasts.
func (c *Config) check() (wrong fields.Errors) {
	if len(c.Prefix) > maxPrefix || strings.ContainsFunc(c.Prefix, func(r rune) bool { return r <= ' ' || r > '~' }) {
		wrong.Add("Prefix", c.Prefix, "must have at most %d visible ASCII characters", maxPrefix)
	}
	var layout *core.ConfigError
	if err := c.Layout.Validate(); errors.As(err, &layout) {
		wrong = append(wrong, layout.Fields...)
	}
	c.Layout = c.Layout.WithDefaults()
	checkText(&wrong, &c.Location, c.Separator)
	if c.Check >= schemes {
		wrong.Add("Check", c.Check, "must be NoCheck, Mod97, Mod11, Mod1110 or Luhn")
	}
	return wrong
}

// checkText checks the fields that both kinds of strings have.
func checkText(wrong *fields.Errors, loc **time.Location, separator string) {
	switch *loc {
	case nil:
		*loc = time.UTC
	case time.Local:
		wrong.Add("Location", *loc, "must be a named zone: the local zone differs between machines")
	}
	if len(separator) > maxSeparator || strings.ContainsFunc(separator, func(r rune) bool { return r <= ' ' || r > '~' || alphanumeric(r) }) {
		wrong.Add("Separator", separator, "must have at most %d ASCII punctuation characters", maxSeparator)
	}
}

func alphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// Codec writes IDs as serials, and reads them back. Make it with New. Any number of
// goroutines may share one. The methods of the zero Codec return errors.
type Codec struct {
	cfg        Config // with its defaults
	zone       zone
	epoch      int64 // Unix seconds
	epochMs    uint64
	tickMs     uint64
	idBits     uint
	timeShift  uint
	lastTick   uint64
	parts      []part // roll-back, worker and sequence, in the order of the layout
	yearDigits int
	width      int
}

// part is a field of the layout, and the group of digits that shows it.
type part struct {
	name   string
	shift  uint
	max    uint64
	digits int
}

const maxParts = 3

// New returns a Codec. The error is a [*core.ConfigError] with all that is wrong.
func New(cfg Config) (*Codec, error) {
	wrong := cfg.check()
	if cfg.Layout.Validate() != nil {
		return nil, wrong.Err("serial")
	}
	c := &Codec{cfg: cfg}
	c.measure(cfg.Layout)
	c.placeInZone(&wrong)
	if err := wrong.Err("serial"); err != nil {
		return nil, err
	}
	c.width = c.totalWidth()
	return c, nil
}

// Config returns the configuration with its defaults filled in.
func (c *Codec) Config() Config {
	if c == nil {
		return Config{}
	}
	return c.cfg
}

// Width is the number of characters of each serial: the size of its column.
func (c *Codec) Width() int {
	if c == nil {
		return 0
	}
	return c.width
}

func (c *Codec) check() error {
	if c.Width() == 0 {
		return errors.New("serial: a Codec must be made by New")
	}
	return nil
}

// measure finds the position and the width of the layout's fields.
func (c *Codec) measure(l core.Layout) {
	c.epoch, c.epochMs = l.Epoch.Unix(), uint64(l.Epoch.Nanosecond()/1e6)
	c.tickMs = uint64(l.Tick / time.Millisecond)
	workerBits, sequenceBits := uint(l.DatacenterBits)+uint(l.WorkerBits), uint(l.SequenceBits)
	c.timeShift = workerBits + sequenceBits + uint(l.RollbackBits)
	c.idBits = c.timeShift + uint(l.TimeBits)
	c.lastTick = 1<<l.TimeBits - 1

	worker := part{name: "worker", max: 1<<workerBits - 1, shift: sequenceBits}
	sequence := part{name: "sequence", max: 1<<sequenceBits - 1}
	order := [maxParts]part{{name: "rollback", max: 1<<l.RollbackBits - 1, shift: workerBits + sequenceBits}, worker, sequence}
	if l.SequenceFirst {
		worker.shift, sequence.shift = 0, workerBits
		order[1], order[2] = sequence, worker
	}
	for _, p := range order {
		if p.max > 0 {
			p.digits = digits(p.max)
			c.parts = append(c.parts, p)
		}
	}
}

// placeInZone finds out what clocks in the zone show between the first tick and the last.
func (c *Codec) placeInZone(wrong *fields.Errors) {
	loc := c.cfg.Location
	first, _ := c.instant(0)
	last, _ := c.instant(c.lastTick)
	zone, change := newZone(loc, first, last)
	if !zone.fixed && !c.cfg.Fold && loc != time.Local { // which is an error already
		wrong.Add("Location", loc, "%s, so a time may occur twice: set Fold, or use UTC", change)
	}
	c.zone = zone
	low, high := first-reach, last+reach // no clock shows less or more
	if zone.fixed {
		low, high = first+zone.offset, last+zone.offset
	}
	if low < yearZero {
		wrong.Add("Layout.Epoch", c.cfg.Layout.Epoch.Format(time.RFC3339), "is before the year 0 in %v", loc)
		return
	}
	day, _ := floorDiv(high, secondsPerDay)
	year, _, _ := date(day)
	c.yearDigits = max(4, digits(year))
}

// totalWidth adds the widths of prefix, time, fold, parts, check and separators.
func (c *Codec) totalWidth() int {
	groups, width := 1+len(c.parts), len(c.cfg.Prefix)+c.timeDigits()
	if c.cfg.Prefix != "" {
		groups++
	}
	if c.cfg.Fold {
		width++
	}
	for _, p := range c.parts {
		width += p.digits
	}
	if c.cfg.Check != NoCheck {
		groups++
		width += c.cfg.Check.width()
	}
	return width + (groups-1)*len(c.cfg.Separator)
}

func (c *Codec) timeDigits() int { return c.yearDigits + len("MMDDhhmmssSSS") }

// instant is when a tick begins: Unix seconds, and milliseconds.
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
