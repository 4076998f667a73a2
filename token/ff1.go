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
// that many digits. A number is two halves, the first with length/2 digits, each below 2^62.
//
// Only the last block of what a round encrypts differs between rounds. What CBC makes of the blocks
// before it is computed once.
type ff1 struct {
	block     cipher.Block
	high, low uint64    // the CBC state, with the constant part of the last block added
	bytes     int       // of the last block, how many are for a half
	mods      [2]uint64 // radix^length of each half
}

// newFF1 returns FF1 for a radix of 2 to 62. The numbers of digits of the halves differ by at most
// one, and radix to the power of the larger is below 2^62.
func newFF1(block cipher.Block, radix uint64, length int, tweak string) *ff1 {
	u := length / 2
	f := &ff1{block: block, mods: [2]uint64{pow(radix, u), pow(radix, length-u)}}
	f.bytes = (bits.Len64(f.mods[1]-1) + 7) / 8

	p := [aes.BlockSize]byte{1, 2, 1, byte(radix >> 16), byte(radix >> 8), byte(radix), ff1Rounds, byte(u)}
	binary.BigEndian.PutUint32(p[8:], uint32(length))
	binary.BigEndian.PutUint32(p[12:], uint32(len(tweak)))
	state := p[:]
	block.Encrypt(state, state)

	// The tweak, zeros up to whole blocks, the round's number and a half; these two are zero here.
	zeros := -(len(tweak) + 1 + f.bytes) & (aes.BlockSize - 1)
	q := make([]byte, len(tweak)+zeros+1+f.bytes)
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

// encrypt returns the halves of the permuted number. It overwrites scratch.
func (f *ff1) encrypt(a, b uint64, scratch *[aes.BlockSize]byte) (uint64, uint64) {
	for i := range uint64(ff1Rounds) {
		mod := f.mods[i&1]
		c := a + f.round(i, b, mod, scratch)
		if c >= mod {
			c -= mod
		}
		a, b = b, c
	}
	return a, b
}

// decrypt is the inverse of encrypt.
func (f *ff1) decrypt(a, b uint64, scratch *[aes.BlockSize]byte) (uint64, uint64) {
	for i := uint64(ff1Rounds); i > 0; i-- {
		mod := f.mods[(i-1)&1]
		c := b - f.round(i-1, a, mod, scratch)
		if c >= mod { // below zero
			c += mod
		}
		a, b = c, a
	}
	return a, b
}

// round returns the pseudorandom number, below mod, that round i adds to the other half.
func (f *ff1) round(i, half, mod uint64, scratch *[aes.BlockSize]byte) uint64 {
	at := uint(8 * f.bytes) // where the round's number is, in bits from the end
	binary.BigEndian.PutUint64(scratch[:8], f.high^i>>(64-at))
	binary.BigEndian.PutUint64(scratch[8:], f.low^i<<at^half)
	f.block.Encrypt(scratch[:], scratch[:])
	high, low := binary.BigEndian.Uint64(scratch[:8]), binary.BigEndian.Uint64(scratch[8:])
	if f.bytes <= 4 {
		return high % mod // of 8 bytes
	}
	return bits.Rem64(high>>32, high<<32|low>>32, mod) // of 12 bytes
}

func pow(base uint64, exponent int) uint64 {
	p := uint64(1)
	for range exponent {
		p *= base
	}
	return p
}
