package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// digits writes and reads numbers in the base of an alphabet.
type digits struct {
	alphabet Alphabet
	base     uint64
	square   uint64          // base²
	magic    uint64          // 2^72/(square/4), rounded up
	units    [62]byte        // the digits
	pairs    [62 * 62]uint16 // the two digits of a number below square, the first in the low byte
	values   [256]byte       // of a digit; noDigit for all else
}

const noDigit = 0xff

func newDigits(a Alphabet) *digits {
	d := &digits{alphabet: a, base: 62}
	if a == Base58 {
		d.base = 58
	}
	for i := range d.values {
		d.values[i] = noDigit
	}
	for i := range d.base {
		text := sqltype.ID(i).Base62()
		if a == Base58 {
			text = sqltype.ID(i).Base58()
		}
		digit := text[len(text)-1]
		d.units[i], d.values[digit] = digit, byte(i)
	}
	d.square = d.base * d.base
	q, _ := bits.Div64(1<<(72-64), 0, d.square/4)
	d.magic = q + 1
	for i := range d.square {
		d.pairs[i] = uint16(d.units[i/d.base]) | uint16(d.units[i%d.base])<<8
	}
	return d
}

// put fills text with the last digits of n.
func (d *digits) put(text []byte, n uint64) {
	for ; len(text) >= 2; text = text[:len(text)-2] {
		// n/square is n>>2 by the odd quarter of square, which is below 2^10. The product of n>>2
		// and magic is too large by less than 2^62 * 2^10 / quarter, so the quotient is exact.
		q, _ := bits.Mul64(n>>2, d.magic)
		q >>= 8
		binary.LittleEndian.PutUint16(text[len(text)-2:], d.pairs[n-q*d.square])
		n = q
	}
	if len(text) == 1 {
		text[0] = d.units[n%d.base]
	}
}

// get returns the number that up to 10 digits mean. The second result is above 61 if one of them
// is no digit.
func (d *digits) get(text string) (n uint64, seen byte) {
	for i := range len(text) {
		v := d.values[text[i]]
		seen |= v
		n = n*d.base + uint64(v)
	}
	return n, seen
}
