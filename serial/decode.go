package serial

import (
	"fmt"
	"math/bits"
	"strings"
)

// Decode reads what Encode has written, to the letter; all else is a [ParseError].
func (c *Codec) Decode(s string) (int64, error) {
	if c == nil || c.width == 0 {
		return 0, unmade()
	}
	prefix := c.format.Prefix
	if !strings.HasPrefix(s, prefix) {
		return 0, &ParseError{s, "prefix", s[:min(len(prefix), len(s))], "must be " + quote(prefix)}
	}
	if len(s) != c.width {
		return 0, &ParseError{s, "length", fmt.Sprint(len(s)), fmt.Sprintf("must be %d", c.width)}
	}
	r := reader{text: s, rest: s[len(prefix):], separator: c.format.Separator}
	if prefix != "" {
		r.skip()
	}
	when := r.take("time", c.timeDigits())
	fold := "0"
	if c.format.Fold {
		fold = r.take("fold", 1)
	}
	var texts [len(c.parts)]string
	for i := range c.n {
		r.skip()
		texts[i] = r.take(c.parts[i].name, c.parts[i].digits)
	}
	if c.format.Check {
		body := s[:len(s)-len(r.rest)]
		r.skip()
		if err := c.verify(&r, body); err != nil {
			return 0, err
		}
	}
	if r.err != nil {
		return 0, r.err
	}
	tick, err := c.tick(s, when, fold)
	if err != nil {
		return 0, err
	}
	u := tick << c.timeShift
	for i := range c.n {
		p := &c.parts[i]
		n := number(texts[i])
		if n > p.max {
			return 0, &ParseError{s, p.name, texts[i], fmt.Sprintf("must be at most %d", p.max)}
		}
		u |= n << p.shift
	}
	return int64(u), nil
}

// verify compares the check characters, which are all that is left, with those of
// the body.
func (c *Codec) verify(r *reader, body string) error {
	if r.err != nil {
		return r.err
	}
	var room [160]byte
	var want [2]byte
	text := append(room[:0], body[len(c.format.Prefix):]...)
	if string(c.format.Scheme.append(want[:0], text)) != r.rest {
		return &ParseError{r.text, "check", r.rest, "does not fit the digits before it, of which at least one is wrong or in a wrong place"}
	}
	return nil
}

// tick is the one that begins at the time, as a clock in the zone shows it.
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
		return 0, wrong("no clock in %s ever shows it", c.format.Location)
	case which >= all.n && all.n == 1:
		return 0, &ParseError{s, "fold", fold, "must be 0: this time comes once"}
	case which >= all.n:
		return 0, &ParseError{s, "fold", fold, fmt.Sprintf("must be at most %d", all.n-1)}
	}
	at := all.of[which]
	if at < c.epoch || at == c.epoch && ms < c.epochMs {
		return 0, wrong("it lies before the layout's beginning, %s", c.shown(0))
	}
	hi, lo := bits.Mul64(uint64(at-c.epoch), 1000)
	lo, carry := bits.Add64(lo, ms, 0)
	hi += carry
	lo, carry = bits.Sub64(lo, c.epochMs, 0)
	hi -= carry
	if hi >= c.tickMs { // more than 64 bits of ticks
		return 0, wrong("it lies after the layout's end, whose last tick is %s", c.shown(c.lastTick))
	}
	tick, rest := bits.Div64(hi, lo, c.tickMs)
	if tick > c.lastTick {
		return 0, wrong("it lies after the layout's end, whose last tick is %s", c.shown(c.lastTick))
	}
	if rest != 0 {
		return 0, wrong("no tick of %v begins there", c.format.Layout.Tick)
	}
	return tick, nil
}

// shown is a tick as serials show it.
func (c *Codec) shown(tick uint64) string {
	sec, ms := c.instant(tick)
	local, _, ok := c.zone.wall(sec)
	if !ok {
		return show(sec)
	}
	day, clock := floorDiv(local, secondsPerDay)
	year, month, dom := date(day)
	return fmt.Sprintf("%0*d%02d%02d%02d%02d%02d%03d", c.yearDigits, year, month, dom, clock/3600, clock/60%60, clock%60, ms)
}

// A reader cuts a text into its parts; the first error stays.
type reader struct {
	text, rest, separator string
	err                   error
}

func (r *reader) fail(part, value, reason string) {
	if r.err == nil {
		r.err = &ParseError{r.text, part, value, reason}
	}
}

// skip passes a separator. The text's length has been checked.
func (r *reader) skip() {
	n := len(r.separator)
	if r.rest[:n] != r.separator {
		r.fail("separator", r.rest[:n], "must be "+quote(r.separator))
	}
	r.rest = r.rest[n:]
}

// take gives a group of digits.
func (r *reader) take(part string, width int) string {
	group := r.rest[:width]
	r.rest = r.rest[width:]
	for i := range len(group) {
		if !isDigit(group[i]) {
			r.fail(part, group, "must have digits only")
			break
		}
	}
	return group
}

// number reads digits, at most 19.
func number(digits string) (n uint64) {
	for i := range len(digits) {
		n = n*10 + uint64(digits[i]-'0')
	}
	return n
}
