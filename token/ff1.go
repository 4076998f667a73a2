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

// encrypt returns the parts of the permuted number.
func (f *ff1) encrypt(a, b uint64) (uint64, uint64) {
	var scratch block
	text := scratch.bytes()
	for i := range f.rounds {
		binary.BigEndian.PutUint64(text, f.rounds[i][0])
		binary.BigEndian.PutUint64(text[8:], f.rounds[i][1]^b)
		mod := &f.mods[i&1]
		base := mod.fraction(a) + mod.slack
		f.block.Encrypt(text, text)
		a, b = b, mod.add(base, text)
	}
	return a, b
}

// decrypt is the inverse of encrypt.
func (f *ff1) decrypt(a, b uint64) (uint64, uint64) {
	var scratch block
	text := scratch.bytes()
	for i := ff1Rounds - 1; i >= 0; i-- {
		binary.BigEndian.PutUint64(text, f.rounds[i][0])
		binary.BigEndian.PutUint64(text[8:], f.rounds[i][1]^a)
		mod := &f.mods[i&1]
		base := mod.fraction(b) + mod.slack
		f.block.Encrypt(text, text)
		a, b = mod.subtract(base, text), a
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
	m, slack  uint64
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
		return modulus{m, 6, over(1), over(1 << 32), over(1)}
	}
	return modulus{m, 6, over(1), over(1), fraction{}}
}

// fraction returns the fraction of a/m in units of 2^-64, too small by less than 2: the rounding of
// unit times a, and of the result, are below 1 each.
func (d *modulus) fraction(a uint64) uint64 {
	carry, _ := bits.Mul64(a, d.unit.low)
	return a*d.unit.high + carry
}

// add returns the number whose fraction is base and that of the block.
func (d *modulus) add(base uint64, block []byte) uint64 {
	high, low := binary.BigEndian.Uint64(block), uint64(binary.BigEndian.Uint32(block[8:]))
	carry, _ := bits.Mul64(high, d.high.low)
	carry2, _ := bits.Mul64(low, d.low.low)
	base += high * d.high.high
	base += low * d.low.high
	base += carry
	base += carry2
	n, _ := bits.Mul64(base, d.m)
	return n
}

// subtract
func (d *modulus) subtract(base uint64, block []byte) uint64 {
	high, low := binary.BigEndian.Uint64(block), uint64(binary.BigEndian.Uint32(block[8:]))
	carry, _ := bits.Mul64(high, d.high.low)
	carry2, _ := bits.Mul64(low, d.low.low)
	base -= high * d.high.high
	base -= low * d.low.high
	base -= carry
	base -= carry2
	n, _ := bits.Mul64(base, d.m)
	return n
}

func pow(base uint64, exponent int) uint64 {
	p := uint64(1)
	for range exponent {
		p *= base
	}
	return p
}
