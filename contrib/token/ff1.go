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
// that many digits. A number is two parts, the first with length/2 digits, each below 2^60.
//
// Only the last block of what a round encrypts differs between rounds. What CBC makes of the blocks
// before it is computed once.
type ff1 struct {
	cipher cipher.Block
	rounds [ff1Rounds / 2][2]roundBlock // those for the first part and for the second
	mods   [2]modulus                   // radix^length of each part
}

// roundBlock is the last block of a round, without the part.
type roundBlock struct{ high, low uint64 }

// newFF1 returns FF1 for a radix of 2 to 62 and a length of at least 2.
func newFF1(c cipher.Block, radix uint64, length int, tweak string) *ff1 {
	u := length / 2
	first, second := pow(radix, u), pow(radix, length-u)
	numeral := (bits.Len64(second-1) + 7) / 8 // the bytes of a part
	bytes := 4*((numeral+3)/4) + 4
	f := &ff1{cipher: c, mods: [2]modulus{newModulus(first, bytes), newModulus(second, bytes)}}

	state := block{1, 2, 1, byte(radix >> 16), byte(radix >> 8), byte(radix), ff1Rounds, byte(u)}
	binary.BigEndian.PutUint32(state[8:], uint32(length))
	binary.BigEndian.PutUint32(state[12:], uint32(len(tweak)))
	c.Encrypt(state[:], state[:])

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
		c.Encrypt(state[:], state[:])
	}
	for i := range uint64(ff1Rounds) {
		f.rounds[i/2][i%2] = roundBlock{
			binary.BigEndian.Uint64(state[:]) ^ i>>(64-8*numeral), // only for 8 bytes of a part
			binary.BigEndian.Uint64(state[8:]) ^ i<<(8*numeral),
		}
	}
	return f
}

// encrypt returns the parts of the permuted number. It overwrites scratch.
func (f *ff1) encrypt(a, b uint64, scratch *block) (uint64, uint64) {
	for i := range f.rounds {
		round := &f.rounds[i]
		binary.BigEndian.PutUint64(scratch[:], round[0].high)
		binary.BigEndian.PutUint64(scratch[8:], round[0].low^b)
		start := f.mods[0].start(a)
		f.cipher.Encrypt(scratch[:], scratch[:])
		a = f.mods[0].add(start, scratch)

		binary.BigEndian.PutUint64(scratch[:], round[1].high)
		binary.BigEndian.PutUint64(scratch[8:], round[1].low^a)
		start = f.mods[1].start(b)
		f.cipher.Encrypt(scratch[:], scratch[:])
		b = f.mods[1].add(start, scratch)
	}
	return a, b
}

// decrypt is the inverse of encrypt.
func (f *ff1) decrypt(a, b uint64, scratch *block) (uint64, uint64) {
	for i := len(f.rounds) - 1; i >= 0; i-- {
		round := &f.rounds[i]
		binary.BigEndian.PutUint64(scratch[:], round[1].high)
		binary.BigEndian.PutUint64(scratch[8:], round[1].low^a)
		start := f.mods[1].start(b)
		f.cipher.Encrypt(scratch[:], scratch[:])
		b = f.mods[1].subtract(start, scratch)

		binary.BigEndian.PutUint64(scratch[:], round[0].high)
		binary.BigEndian.PutUint64(scratch[8:], round[0].low^b)
		start = f.mods[0].start(a)
		f.cipher.Encrypt(scratch[:], scratch[:])
		a = f.mods[0].subtract(start, scratch)
	}
	return a, b
}

func pow(base uint64, exponent int) uint64 {
	p := uint64(1)
	for range exponent {
		p *= base
	}
	return p
}
