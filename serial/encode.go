package serial

import (
	"fmt"
)

// Encode writes an id. One that is not of the layout is a [core.RangeError].
func (c *Codec) Encode(id int64) (string, error) {
	var room [160]byte // more than the widest needs
	text, err := c.AppendEncode(room[:0], id)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// AppendEncode is Encode to the end of dst. With an error dst is as it was.
func (c *Codec) AppendEncode(dst []byte, id int64) ([]byte, error) {
	if c == nil || c.width == 0 {
		return dst, unmade()
	}
	u := uint64(id)
	if id < 0 && !c.format.Layout.Unsigned || c.total < 64 && u>>c.total != 0 {
		_, err := c.format.Layout.Decode(id)
		return dst, err
	}
	sec, ms := c.instant(u >> c.timeShift)
	local, fold, ok := c.zone.wall(sec)
	if !ok {
		return dst, fmt.Errorf("serial: id %d: the zone %s has an offset of a day or more at %s, or shows that time too often", u, c.format.Location, show(sec))
	}
	day, clock := floorDiv(local, secondsPerDay)
	year, month, dom := date(day)
	separator := c.format.Separator

	dst = append(dst, c.format.Prefix...)
	if c.format.Prefix != "" {
		dst = append(dst, separator...)
	}
	body := len(dst)
	dst = appendDigits(dst, year, c.yearDigits)
	dst = appendDigits(dst, month, 2)
	dst = appendDigits(dst, dom, 2)
	dst = appendDigits(dst, uint64(clock/3600), 2)
	dst = appendDigits(dst, uint64(clock/60%60), 2)
	dst = appendDigits(dst, uint64(clock%60), 2)
	dst = appendDigits(dst, ms, 3)
	if c.format.Fold {
		dst = appendDigits(dst, fold, 1)
	}
	for i := range c.parts[:c.n] {
		p := &c.parts[i]
		dst = append(dst, separator...)
		dst = appendDigits(dst, u>>p.shift&p.max, p.digits)
	}
	if c.format.Check {
		end := len(dst)
		dst = append(dst, separator...)
		dst = c.format.Scheme.append(dst, dst[body:end])
	}
	return dst, nil
}

// appendDigits writes n with leading zeros.
func appendDigits(dst []byte, n uint64, width int) []byte {
	at := len(dst)
	for range width {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= at; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}
