package serial

import (
	"fmt"
	"math/bits"
)

// Decode returns the ID of a serial. It accepts only what Encode returns, character by
// character, so one ID has one string; anything else is a [*ParseError]. [Codec.DecodeTyped] is
// for what people type.
func (c *Codec) Decode(s string) (int64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	r, err := open(s, c.cfg.Prefix, c.cfg.Separator, c.width)
	if err != nil {
		return 0, err
	}
	when := r.take("time", c.timeDigits())
	fold := "0"
	if c.cfg.Fold {
		fold = r.take("fold", 1)
	}
	var groups [maxParts]string
	for i, p := range c.parts {
		r.skip()
		groups[i] = r.take(p.name, p.digits)
	}
	if c.cfg.Check != NoCheck {
		body := s[len(c.cfg.Prefix) : len(s)-len(r.rest)]
		r.skip()
		c.verify(&r, body)
	}
	if r.err != nil {
		return 0, r.err
	}
	tick, err := c.tick(s, when, fold)
	if err != nil {
		return 0, err
	}
	u := tick << c.timeShift
	for i, p := range c.parts {
		n := number(groups[i])
		if n > p.max {
			return 0, &ParseError{s, p.name, groups[i], fmt.Sprintf("must be at most %d", p.max)}
		}
		u |= n << p.shift
	}
	return int64(u), nil
}

// verify compares the check characters, which are the rest, with what the body gives.
func (c *Codec) verify(r *reader, body string) {
	var buf [maxWidth]byte
	var want [2]byte
	if string(c.cfg.Check.append(want[:0], append(buf[:0], body...))) != r.rest {
		r.fail("check", r.rest, "does not match the digits before it: at least one is wrong or misplaced")
	}
}

// tick returns the tick that begins when clocks in the zone show a time.
func (c *Codec) tick(s, when, fold string) (uint64, error) {
	wrong := func(format string, args ...any) error {
		return &ParseError{s, "time", when, fmt.Sprintf(format, args...)}
	}
	y := c.yearDigits
	year, month, dom := number(when[:y]), number(when[y:y+2]), number(when[y+2:y+4])
	hour, minute, second, ms := number(when[y+4:y+6]), number(when[y+6:y+8]), number(when[y+8:y+10]), number(when[y+10:])
	if month < 1 || month > 12 || dom < 1 || dom > daysIn(year, month) {
		return 0, wrong("there is no such date")
	}
	if hour > 23 || minute > 59 || second > 59 {
		return 0, wrong("there is no such time of day")
	}
	local := dayOf(year, month, dom)*secondsPerDay + int64(hour*3600+minute*60+second)
	var all instants
	c.zone.instants(local, &all)
	which := int(number(fold))
	switch {
	case all.n == 0:
		return 0, wrong("clocks in %s never show it", c.cfg.Location)
	case which >= all.n && all.n == 1:
		return 0, &ParseError{s, "fold", fold, "must be 0: this time occurs once"}
	case which >= all.n:
		return 0, &ParseError{s, "fold", fold, fmt.Sprintf("must be at most %d", all.n-1)}
	}
	at := all.of[which]
	if at < c.epoch || at == c.epoch && ms < c.epochMs {
		return 0, wrong("is before the layout's first tick, %s", c.shown(0))
	}
	hi, lo := bits.Mul64(uint64(at-c.epoch), 1000)
	lo, carry := bits.Add64(lo, ms, 0)
	hi += carry
	lo, carry = bits.Sub64(lo, c.epochMs, 0)
	hi -= carry
	tick, rest := uint64(0), uint64(0)
	after := hi >= c.tickMs // more than 64 bits of ticks
	if !after {
		tick, rest = bits.Div64(hi, lo, c.tickMs)
		after = tick > c.lastTick
	}
	if after {
		return 0, wrong("is after the layout's last tick, %s", c.shown(c.lastTick))
	}
	if rest != 0 {
		return 0, wrong("no tick of %v begins then", c.cfg.Layout.Tick)
	}
	return tick, nil
}

// shown is the time of a tick as serials show it.
func (c *Codec) shown(tick uint64) string {
	sec, ms := c.instant(tick)
	local, _, ok := c.zone.wall(sec)
	if !ok {
		return show(sec)
	}
	return string(c.appendTime(nil, local, ms))
}
