package token

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
)

// ff1Rounds is how many rounds of a Feistel network FF1 has, and so calls of AES.
const ff1Rounds = 10

// ff1 is FF1 of NIST SP 800-38G for one radix, length and tweak: a permutation of the numbers of
// that many digits. A number is two parts, the first with length/2 digits, each below 2^61.
//
// Only the last block of what a round encrypts differs between rounds. What CBC makes of the blocks
// before it is computed once.
type ff1 struct {
	block     cipher.Block
	high, low uint64     // the CBC state, with the constant bytes of the last block added
	at        uint64     // where in the last block the round's number is, in bits from its end
	wide      bool       // whether a round's random number has 12 bytes, not 8
	mods      [2]modulus // radix^length of each part
}

// newFF1 returns FF1 for a radix of 2 to 62 and a length of at least 2.
func newFF1(block cipher.Block, radix uint64, length int, tweak string) *ff1 {
	u := length / 2
	f := &ff1{block: block, mods: [2]modulus{newModulus(pow(radix, u)), newModulus(pow(radix, length-u))}}
	numeral := (bits.Len64(f.mods[1].m-1) + 7) / 8 // the bytes of a part
	f.at, f.wide = uint64(8*numeral), numeral > 4

	p := [aes.BlockSize]byte{1, 2, 1, byte(radix >> 16), byte(radix >> 8), byte(radix), ff1Rounds, byte(u)}
	binary.BigEndian.PutUint32(p[8:], uint32(length))
	binary.BigEndian.PutUint32(p[12:], uint32(len(tweak)))
	state := p[:]
	block.Encrypt(state, state)

	// The tweak, zeros up to whole blocks, the round's number and a part; these two are zero here.
	zeros := -(len(tweak) + 1 + numeral) & (aes.BlockSize - 1)
	q := make([]byte, len(tweak)+zeros+1+numeral)
	copy(q, tweak)
	for ; ; q = q[aes.BlockSize:] {
		for i := range state {
			state[i] ^= q[i]
		}
		if len(q) == aes.BlockSize {
			break
		}
		block.Encrypt(state, state)
	}
	f.high, f.low = binary.BigEndian.Uint64(state), binary.BigEndian.Uint64(state[8:])
	return f
}

// encrypt returns the parts of the permuted number. It overwrites scratch.
func (f *ff1) encrypt(a, b uint64, scratch *[aes.BlockSize]byte) (uint64, uint64) {
	for i := uint64(0); i < ff1Rounds; i += 2 {
		high, low := f.round(i, b, scratch)
		a = f.mods[0].add(a, high, low)
		high, low = f.round(i+1, a, scratch)
		b = f.mods[1].add(b, high, low)
	}
	return a, b
}

// decrypt is the inverse of encrypt.
func (f *ff1) decrypt(a, b uint64, scratch *[aes.BlockSize]byte) (uint64, uint64) {
	for i := uint64(ff1Rounds); i > 0; i -= 2 {
		high, low := f.round(i-1, a, scratch)
		b = f.mods[1].subtract(b, high, low)
		high, low = f.round(i-2, b, scratch)
		a = f.mods[0].subtract(a, high, low)
	}
	return a, b
}

// round returns the random number of round i for a part: high*2^32 + low, with low below 2^32.
func (f *ff1) round(i, part uint64, scratch *[aes.BlockSize]byte) (high, low uint64) {
	binary.BigEndian.PutUint64(scratch[:8], f.high^i>>(64-f.at))
	binary.BigEndian.PutUint64(scratch[8:], f.low^i<<f.at^part)
	f.block.Encrypt(scratch[:], scratch[:])
	high, low = binary.BigEndian.Uint64(scratch[:8]), binary.BigEndian.Uint64(scratch[8:])
	if f.wide {
		return high, low >> 32
	}
	return high >> 32, high & (1<<32 - 1)
}

// modulus adds and subtracts modulo m, with multiplications alone: a division takes longer, and a
// time that depends on its operands. x mod m is m times the fraction of x/m.
type modulus struct {
	m     uint64
	unit  fraction // 1/m
	shift fraction // 2^32/m
}

// fraction is the fraction of a number, in units of 2^-128, rounded down.
type fraction struct{ high, low uint64 }

// newModulus returns the modulus m, from 2 to 2^61.
func newModulus(m uint64) modulus {
	over := func(n uint64) fraction {
		high, rest := bits.Div64(n%m, 0, m)
		low, _ := bits.Div64(rest, 0, m)
		return fraction{high, low}
	}
	return modulus{m, over(1), over(1 << 32)}
}

// times returns the fraction of n times f in units of 2^-64, too small by less than 2: the
// rounding of f times n, and of the result, are less than one each.
func (f *fraction) times(n uint64) uint64 {
	carry, _ := bits.Mul64(n, f.low)
	return n*f.high + carry
}

// add returns (a + high*2^32 + low) mod m, for a below m.
func (d *modulus) add(a, high, low uint64) uint64 {
	// Too small by less than 6, so with 6 too large by at most 6/2^64, which is below 1/m.
	sum := d.unit.times(a) + 6 + d.shift.times(high) + d.unit.times(low)
	r, _ := bits.Mul64(sum, d.m)
	return r
}

// subtract returns (a - high*2^32 - low) mod m, for a below m.
func (d *modulus) subtract(a, high, low uint64) uint64 {
	// Too small by less than 2, or too large by less than 4.
	sum := d.unit.times(a) + 2 - d.shift.times(high) - d.unit.times(low)
	r, _ := bits.Mul64(sum, d.m)
	return r
}

func pow(base uint64, exponent int) uint64 {
	p := uint64(1)
	for range exponent {
		p *= base
	}
	return p
}
