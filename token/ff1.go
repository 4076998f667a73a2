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
	block  cipher.Block
	rounds [ff1Rounds][2]uint64 // the last block of each round, without the part
	mods   [2]modulus           // radix^length of each part
}

// newFF1 returns FF1 for a radix of 2 to 62 and a length of at least 2.
func newFF1(block cipher.Block, radix uint64, length int, tweak string) *ff1 {
	u := length / 2
	first, second := pow(radix, u), pow(radix, length-u)
	numeral := (bits.Len64(second-1) + 7) / 8 // the bytes of a part
	f := &ff1{block: block, mods: [2]modulus{newModulus(first, numeral > 4), newModulus(second, numeral > 4)}}

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
	for i := range uint64(ff1Rounds) {
		f.rounds[i] = [2]uint64{
			binary.BigEndian.Uint64(state) ^ i>>(64-8*numeral), // only for 8 bytes of a part
			binary.BigEndian.Uint64(state[8:]) ^ i<<(8*numeral),
		}
	}
	return f
}

// encrypt returns the parts of the permuted number. It overwrites scratch.
func (f *ff1) encrypt(a, b uint64, scratch *[aes.BlockSize]byte) (uint64, uint64) {
	for i := range f.rounds {
		binary.BigEndian.PutUint64(scratch[:8], f.rounds[i][0])
		binary.BigEndian.PutUint64(scratch[8:], f.rounds[i][1]^b)
		f.block.Encrypt(scratch[:], scratch[:])
		a, b = b, f.mods[i&1].add(a, scratch)
	}
	return a, b
}

// decrypt is the inverse of encrypt.
func (f *ff1) decrypt(a, b uint64, scratch *[aes.BlockSize]byte) (uint64, uint64) {
	for i := ff1Rounds - 1; i >= 0; i-- {
		binary.BigEndian.PutUint64(scratch[:8], f.rounds[i][0])
		binary.BigEndian.PutUint64(scratch[8:], f.rounds[i][1]^a)
		f.block.Encrypt(scratch[:], scratch[:])
		a, b = f.mods[i&1].subtract(b, scratch), a
	}
	return a, b
}

// modulus adds and subtracts what a round encrypts, modulo m. It does so with multiplications: a
// division takes longer, and a time that depends on its operands. x mod m is m times the
// fraction of x/m.
//
// FF1 adds the number in the first 12 bytes of a block, high*2^32 + low, if a part has more than
// 4 bytes, and otherwise that in the first 8 bytes, high.
type modulus struct {
	m         uint64
	unit      fraction // 1/m
	high, low fraction // of the 8 and the 4 bytes, 2^32/m and 1/m, or 1/m and 0
}

// fraction is the fraction of a number, in units of 2^-128, rounded down.
type fraction struct{ high, low uint64 }

// newModulus returns the modulus m, from 2 to 2^61.
func newModulus(m uint64, wide bool) modulus {
	over := func(n uint64) fraction {
		high, rest := bits.Div64(n%m, 0, m)
		low, _ := bits.Div64(rest, 0, m)
		return fraction{high, low}
	}
	if wide {
		return modulus{m, over(1), over(1 << 32), over(1)}
	}
	return modulus{m, over(1), over(1), fraction{}}
}

// The fraction of n times f is n*f.high plus the carry of n*f.low, in units of 2^-64. It is too
// small by less than 2: the rounding of f times n, and of the result, are below 1 each.

// add returns (a + the number in the block) mod m, for a below m.
func (d *modulus) add(a uint64, block *[aes.BlockSize]byte) uint64 {
	high, low := binary.BigEndian.Uint64(block[:8]), uint64(binary.BigEndian.Uint32(block[8:]))
	c0, _ := bits.Mul64(a, d.unit.low)
	c1, _ := bits.Mul64(high, d.high.low)
	c2, _ := bits.Mul64(low, d.low.low)
	// Three such are too small by less than 6, so with 6 too large by at most 6/2^64, below 1/m.
	sum := a*d.unit.high + c0 + 6 + high*d.high.high + low*d.low.high + (c1 + c2)
	r, _ := bits.Mul64(sum, d.m)
	return r
}

// subtract returns (a - the number in the block) mod m, for a below m.
func (d *modulus) subtract(a uint64, block *[aes.BlockSize]byte) uint64 {
	high, low := binary.BigEndian.Uint64(block[:8]), uint64(binary.BigEndian.Uint32(block[8:]))
	c0, _ := bits.Mul64(a, d.unit.low)
	c1, _ := bits.Mul64(high, d.high.low)
	c2, _ := bits.Mul64(low, d.low.low)
	// The first is too small by less than 2, the others make the sum too large by less than 4.
	sum := a*d.unit.high + c0 + 2 - high*d.high.high - low*d.low.high - (c1 + c2)
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
