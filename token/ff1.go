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
	rounds [ff1Rounds][2]uint64 // the last block of each round, without the part
	mods   [2]modulus           // radix^length of each part
}

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
	state.encrypt(c)

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
		state.encrypt(c)
	}
	for i := range uint64(ff1Rounds) {
		f.rounds[i] = [2]uint64{
			binary.BigEndian.Uint64(state[:]) ^ i>>(64-8*numeral), // only for 8 bytes of a part
			binary.BigEndian.Uint64(state[8:]) ^ i<<(8*numeral),
		}
	}
	return f
}

// encrypt returns the parts of the permuted number. AES waits for what is computed before its block
// is written, so that comes first.
func (f *ff1) encrypt(a, b uint64) (uint64, uint64) {
	var text block
	for i := range f.rounds {
		binary.BigEndian.PutUint64(text[:], f.rounds[i][0])
		binary.BigEndian.PutUint64(text[8:], f.rounds[i][1]^b)
		mod := &f.mods[i&1]
		base := mod.start(a)
		text.encrypt(f.cipher)
		a, b = b, mod.add(base, &text)
	}
	return a, b
}

// decrypt is the inverse of encrypt.
func (f *ff1) decrypt(a, b uint64) (uint64, uint64) {
	var text block
	for i := ff1Rounds - 1; i >= 0; i-- {
		binary.BigEndian.PutUint64(text[:], f.rounds[i][0])
		binary.BigEndian.PutUint64(text[8:], f.rounds[i][1]^a)
		mod := &f.mods[i&1]
		base := mod.start(b)
		text.encrypt(f.cipher)
		a, b = mod.subtract(base, &text), a
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
