package token

import (
	"encoding/binary"
	"math/bits"
)

// modulus adds and subtracts what FF1 encrypts, modulo m. It does so with multiplications: a
// division takes longer, and a time that depends on its operands.
//
// x mod m is m times the fraction of x/m. Fractions are in units of 2^-64. Of a number, they are the
// sum of the fractions of its parts.
type modulus struct {
	m         uint64
	unit      fraction // 1/m
	high, low fraction // what the first 8 bytes of a block count, and the next 4
	slack     uint64   // 6. The compiler would add a constant last, when the next AES waits for it.
}

// fraction is the fraction of a number in units of 2^-128, rounded down. So n times it, without
// the last 64 bits, is too small by less than 2.
type fraction struct{ high, low uint64 }

// newModulus returns the modulus m, from 2 to 2^60. FF1 adds the number in the first 12 bytes of a
// block, or in the first 8.
func newModulus(m uint64, bytes int) modulus {
	over := func(n uint64) fraction {
		high, rest := bits.Div64(n%m, 0, m)
		low, _ := bits.Div64(rest, 0, m)
		return fraction{high, low}
	}
	d := modulus{m: m, unit: over(1), high: over(1), slack: 6}
	if bytes == 12 {
		d.high, d.low = over(1<<32), over(1)
	}
	return d
}

// start returns the fraction of a/m, too large by 4 to 6.
func (d *modulus) start(a uint64) uint64 {
	carry, _ := bits.Mul64(a, d.unit.low)
	return a*d.unit.high + carry + d.slack
}

// add returns the sum of the block and the number of the fraction, modulo m.
func (d *modulus) add(fraction uint64, b *block) uint64 {
	high, low := binary.BigEndian.Uint64(b[:]), uint64(binary.BigEndian.Uint32(b[8:]))
	carry, _ := bits.Mul64(high, d.high.low)
	carry2, _ := bits.Mul64(low, d.low.low)
	fraction += high * d.high.high
	fraction += low * d.low.high
	fraction += carry
	fraction += carry2
	// It is too large by less than 6, and times m by less than 1.
	n, _ := bits.Mul64(fraction, d.m)
	return n
}

// subtract returns the number of the fraction minus the block, modulo m.
func (d *modulus) subtract(fraction uint64, b *block) uint64 {
	high, low := binary.BigEndian.Uint64(b[:]), uint64(binary.BigEndian.Uint32(b[8:]))
	carry, _ := bits.Mul64(high, d.high.low)
	carry2, _ := bits.Mul64(low, d.low.low)
	fraction -= high * d.high.high
	fraction -= low * d.low.high
	fraction -= carry
	fraction -= carry2
	// It is too large by less than 10, and times m by less than 1.
	n, _ := bits.Mul64(fraction, d.m)
	return n
}
