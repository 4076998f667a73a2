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
	divLow   uint64          // 2^88/(low/2^6), rounded up
	divPair  uint64          // 2^64/square, rounded up
	units    [62]byte        // the digits
	pairs    [62 * 62]uint16 // the two digits of a number below square, the first in the low byte
	values   [256]byte       // of a digit; noDigit for all else
}

const noDigit = 0xff

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
	d.divPair = math.MaxUint64/d.square + 1
	q, _ := bits.Div64(1<<(88-64), 0, d.low>>6)
	d.divLow = q + 1
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
	for i := range d.square {
		d.pairs[i] = uint16(d.units[i/d.base]) | uint16(d.units[i%d.base])<<8
	}
	return d
}

// split returns the parts of n.
func (d *digits) split(n uint64) (high, low uint64) {
	// Divided by 2^6 first, and then by a number below 2^30. The rounding of divLow adds less than
	// 2^58 * 2^30 / 2^88 to the quotient, so it is exact.
	high, _ = bits.Mul64(n>>6, d.divLow)
	high >>= 88 - 64
	return high, n - high*d.low
}

// join is the inverse of split. It reports whether the number is below 2^64.
func (d *digits) join(high, low uint64) (n uint64, ok bool) {
	over, n := bits.Mul64(high, d.low)
	n, carry := bits.Add64(n, low, 0)
	return n, over|carry == 0
}

// putWord writes n to 11 bytes.
func (d *digits) putWord(text []byte, n uint64) {
	high, low := d.split(n)
	d.putParts(text, high, low)
}

// putParts writes two parts to 11 bytes.
func (d *digits) putParts(text []byte, high, low uint64) {
	text = text[:wordDigits:wordDigits]
	// Quotients of numbers below 2^52 are exact: the rounding of divPair adds less than 2^12*n/2^64.
	high1, _ := bits.Mul64(high, d.divPair)
	high2, _ := bits.Mul64(high1, d.divPair)
	low1, _ := bits.Mul64(low, d.divPair)
	low2, _ := bits.Mul64(low1, d.divPair)
	text[0] = d.units[high2]
	binary.LittleEndian.PutUint16(text[1:], d.pairs[high1-high2*d.square])
	binary.LittleEndian.PutUint16(text[3:], d.pairs[high-high1*d.square])
	binary.LittleEndian.PutUint16(text[5:], d.pairs[low2])
	binary.LittleEndian.PutUint16(text[7:], d.pairs[low1-low2*d.square])
	binary.LittleEndian.PutUint16(text[9:], d.pairs[low-low1*d.square])
}

// word returns the number that 11 digits mean. It reports whether they are digits, and the number
// is below 2^64.
func (d *digits) word(text string) (uint64, bool) {
	high, low, ok := d.parts(text)
	n, fits := d.join(high, low)
	return n, ok && fits
}

// parts returns the parts that 11 digits mean. It reports whether they are digits.
func (d *digits) parts(text string) (high, low uint64, ok bool) {
	_ = text[wordDigits-1]
	var seen byte
	for i := range highDigits {
		v := d.values[text[i]]
		seen |= v
		high = high*d.base + uint64(v)
	}
	for i := highDigits; i < wordDigits; i++ {
		v := d.values[text[i]]
		seen |= v
		low = low*d.base + uint64(v)
	}
	return high, low, seen != noDigit
}
