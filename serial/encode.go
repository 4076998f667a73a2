package serial

import "fmt"

// maxWidth is more than the widest serial has.
const maxWidth = 160

// Encode returns the serial of an ID. An ID outside the layout is a [*core.RangeError].
func (c *Codec) Encode(id int64) (string, error) {
	var buf [maxWidth]byte
	text, err := c.AppendEncode(buf[:0], id)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// AppendEncode appends the serial to dst, and allocates nothing else. On an error it
// returns dst unchanged.
func (c *Codec) AppendEncode(dst []byte, id int64) ([]byte, error) {
	if err := c.check(); err != nil {
		return dst, err
	}
	u := uint64(id)
	if id < 0 && !c.cfg.Layout.Unsigned || c.idBits < 64 && u>>c.idBits != 0 {
		_, err := c.cfg.Layout.Decode(id)
		return dst, err
	}
	sec, ms := c.instant(u >> c.timeShift)
	local, fold, ok := c.zone.wall(sec)
	if !ok {
		return dst, fmt.Errorf("serial: id %d: the zone %s has an offset of more than 26 hours at %s, or shows that time too often", u, c.cfg.Location, show(sec))
	}
	separator := c.cfg.Separator
	dst = append(dst, c.cfg.Prefix...)
	if c.cfg.Prefix != "" {
		dst = append(dst, separator...)
	}
	body := len(dst)
	dst = c.appendTime(dst, local, ms)
	if c.cfg.Fold {
		dst = appendDigits(dst, fold, 1)
	}
	for i := range c.parts {
		p := &c.parts[i]
		dst = append(dst, separator...)
		dst = appendDigits(dst, u>>p.shift&p.max, p.digits)
	}
	if c.cfg.Check != NoCheck {
		end := len(dst)
		dst = append(dst, separator...)
		dst = c.cfg.Check.append(dst, dst[body:end])
	}
	return dst, nil
}

// appendTime appends what a clock on the wall shows.
func (c *Codec) appendTime(dst []byte, local int64, ms uint64) []byte {
	day, clock := floorDiv(local, secondsPerDay)
	year, month, dom := date(day)
	dst = appendDigits(dst, year, c.yearDigits)
	dst = appendDigits(dst, month, 2)
	dst = appendDigits(dst, dom, 2)
	dst = appendDigits(dst, uint64(clock/3600), 2)
	dst = appendDigits(dst, uint64(clock/60%60), 2)
	dst = appendDigits(dst, uint64(clock%60), 2)
	return appendDigits(dst, ms, 3)
}

// appendDigits appends n with leading zeros.
func appendDigits(dst []byte, n uint64, width int) []byte {
	start := len(dst)
	for range width {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= start; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}
