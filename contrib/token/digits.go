package token

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// digits writes and reads numbers in the base of an alphabet. 11 digits hold any number of 64
// bits. They are written and read as two parts, of 5 and of 6 digits: what is done to one part does
// not wait for the other. FF1 works on the same two parts.
type digits struct {
	alphabet Alphabet
	base     uint64
	square   uint64          // base²
	low      uint64          // base^6, what the last part is below
	byLow    uint64          // 2^88/(low/2^6), rounded up
	byFourth uint64          // 2^64/base^4, rounded up
	units    [62]byte        // the digits
	pairs    [62 * 62]uint16 // the two digits of a number below square, the first in the low byte
	ones     [256]uint32     // the value of a digit; noDigit for all else
	tens     [256]uint32     // base times that; noDigit for all else
}

// noDigit is above the value of any two digits.
const noDigit = 1 << 12

// How many digits the parts of a number of 64 bits have.
const (
	highDigits = 5
	lowDigits  = 6
	wordDigits = highDigits + lowDigits
)

func newDigits(a Alphabet) *digits {
	d := &digits{alphabet: a, base: 62}
	if a == Base58 {
		d.base = 58
	}
	d.square, d.low = pow(d.base, 2), pow(d.base, lowDigits)
	quotient, _ := bits.Div64(1<<(88-64), 0, d.low>>6)
	d.byLow = quotient + 1
	d.byFourth = math.MaxUint64/pow(d.base, 4) + 1
	for i := range d.ones {
		d.ones[i], d.tens[i] = noDigit, noDigit
	}
	for i := range d.base {
		text := sqltype.ID(i).Base62()
		if a == Base58 {
			text = sqltype.ID(i).Base58()
		}
		digit := text[len(text)-1]
		d.units[i], d.ones[digit], d.tens[digit] = digit, uint32(i), uint32(i*d.base)
	}
	for i := range d.square {
		d.pairs[i] = uint16(d.units[i/d.base]) | uint16(d.units[i%d.base])<<8
	}
	return d
}

// split returns the parts of n.
func (d *digits) split(n uint64) (high, low uint64) {
	// Divided by 2^6 first, and then by a number below 2^30. The rounding of byLow adds less than
	// 2^58 * 2^30 / 2^88 to the quotient, so it is exact.
	high, _ = bits.Mul64(n>>6, d.byLow)
	high >>= 88 - 64
	return high, n - high*d.low
}

// join is the inverse of split. The second result is zero if the number is below 2^64.
func (d *digits) join(high, low uint64) (n, over uint64) {
	over, n = bits.Mul64(high, d.low)
	n, carry := bits.Add64(n, low, 0)
	return n, over | carry
}

// put writes two parts to 11 bytes.
func (d *digits) put(text *[wordDigits]byte, high, low uint64) {
	// The first two digits of a part below 2^36 are its quotient by base^4. The rest is a fraction,
	// of which each product has the next two. The rounding of byFourth makes it too large by less
	// than 2^36/2^64, below 1/base^4.
	pair, rest := bits.Mul64(high, d.byFourth)
	text[0] = d.units[pair]
	pair, rest = bits.Mul64(rest, d.square)
	binary.LittleEndian.PutUint16(text[1:], d.pairs[pair])
	pair, _ = bits.Mul64(rest, d.square)
	binary.LittleEndian.PutUint16(text[3:], d.pairs[pair])

	pair, rest = bits.Mul64(low, d.byFourth)
	binary.LittleEndian.PutUint16(text[5:], d.pairs[pair])
	pair, rest = bits.Mul64(rest, d.square)
	binary.LittleEndian.PutUint16(text[7:], d.pairs[pair])
	pair, _ = bits.Mul64(rest, d.square)
	binary.LittleEndian.PutUint16(text[9:], d.pairs[pair])
}

// get returns the parts that 11 digits mean. The third result is at least noDigit if one of them is
// no digit.
func (d *digits) get(text string) (high, low uint64, seen uint32) {
	_ = text[wordDigits-1]
	a := d.ones[text[0]]
	b := d.tens[text[1]] + d.ones[text[2]]
	c := d.tens[text[3]] + d.ones[text[4]]
	high = (uint64(a)*d.square+uint64(b))*d.square + uint64(c)
	e := d.tens[text[5]] + d.ones[text[6]]
	f := d.tens[text[7]] + d.ones[text[8]]
	g := d.tens[text[9]] + d.ones[text[10]]
	low = (uint64(e)*d.square+uint64(f))*d.square + uint64(g)
	return high, low, a | b | c | e | f | g
}
