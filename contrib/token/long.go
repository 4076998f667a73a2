package token

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A token is a block: the id and a tag, each of 8 bytes, encrypted together. Its text is two numbers
// of 11 digits: its first and its last 8 bytes.
const tokenDigits = 2 * wordDigits

// Sealer makes and opens the tokens of one type of rows. It is made by Ring.Sealer, and safe for
// concurrent use. The methods of a nil or zero Sealer return an error.
type Sealer struct{ in *sealer }

type sealer struct {
	typeName string
	keys     []*typeKey // the first seals
	blocks   sync.Pool  // of *block
}

// block is a block of AES. The arguments of a cipher.Block escape to the heap, because the compiler
// does not know what it does with them. So blocks are kept and reused.
type block [aes.BlockSize]byte

// typeKey is a key for one type.
type typeKey struct {
	cipher cipher.Block
	tag    uint64 // the half of a block that is not the id
}

var _ sqltype.Sealer = (*Sealer)(nil)

// AppendSeal appends the token of the id to b: 22 digits. For a negative id the error is
// sqltype.ErrNegative. On an error it returns b unchanged.
func (s *Sealer) AppendSeal(b []byte, id sqltype.ID) ([]byte, error) {
	if s == nil || s.in == nil {
		return b, notMade("seal")
	}
	if id < 0 {
		return b, negative(id)
	}
	in := s.in
	all := slices.Grow(b, tokenDigits)[:len(b)+tokenDigits]
	text := all[len(b):]
	in.seal((*block)(text), id)
	first, last := binary.BigEndian.Uint64(text), binary.BigEndian.Uint64(text[8:])
	putWord((*[wordDigits]byte)(text), first)
	putWord((*[wordDigits]byte)(text[wordDigits:]), last)
	return all, nil
}

// SealBlock returns the token of the id as 16 bytes, for a uuid column or a binary protocol. The
// bytes do not have the version bits of a UUID. For a negative id the error is sqltype.ErrNegative.
func (s *Sealer) SealBlock(id sqltype.ID) ([16]byte, error) {
	if s == nil || s.in == nil {
		return [16]byte{}, notMade("seal")
	}
	if id < 0 {
		return [16]byte{}, negative(id)
	}
	scratch := s.in.blocks.Get().(*block)
	s.in.seal(scratch, id)
	token := *scratch
	s.in.blocks.Put(scratch)
	return token, nil
}

// Unseal returns the id of a token that AppendSeal made with any key of the ring. For any other
// text, the error is sqltype.ErrSyntax and quotes the text.
func (s *Sealer) Unseal(token string) (sqltype.ID, error) {
	if s == nil || s.in == nil {
		return 0, notMade("unseal")
	}
	in := s.in
	if len(token) != tokenDigits {
		return 0, refuse(token, in.typeName, ": its length is %d, not %d", len(token), tokenDigits)
	}
	first, ok := word(token)
	last, ok2 := word(token[wordDigits:])
	if !ok || !ok2 {
		return 0, refuse(token, in.typeName, "")
	}
	id, ok := in.open(first, last)
	if !ok {
		return 0, refuse(token, in.typeName, ": no key of the ring opens it")
	}
	return id, nil
}

// OpenBlock returns the id of a token that SealBlock made with any key of the ring. For any other
// bytes, the error is sqltype.ErrSyntax and quotes them.
func (s *Sealer) OpenBlock(token [16]byte) (sqltype.ID, error) {
	if s == nil || s.in == nil {
		return 0, notMade("unseal")
	}
	in := s.in
	id, ok := in.open(binary.BigEndian.Uint64(token[:8]), binary.BigEndian.Uint64(token[8:]))
	if !ok {
		return 0, refuse(fmt.Sprintf("%x", token), in.typeName, ": no key of the ring opens it")
	}
	return id, nil
}

// seal writes the token of the id to b, with the newest key.
func (s *sealer) seal(b *block, id sqltype.ID) {
	key := s.keys[0]
	binary.BigEndian.PutUint64(b[:], uint64(id))
	binary.BigEndian.PutUint64(b[8:], key.tag)
	key.cipher.Encrypt(b[:], b[:])
}

// open tries all keys. It reports whether one of them opens the token.
func (s *sealer) open(first, last uint64) (id sqltype.ID, ok bool) {
	b := s.blocks.Get().(*block)
	for _, key := range s.keys {
		binary.BigEndian.PutUint64(b[:], first)
		binary.BigEndian.PutUint64(b[8:], last)
		key.cipher.Decrypt(b[:], b[:])
		id = sqltype.ID(binary.BigEndian.Uint64(b[:]))
		// In constant time, on a 32-bit processor, too: the time must not show how much of a tag is
		// right.
		wrong := binary.BigEndian.Uint64(b[8:]) ^ key.tag
		if ok = uint32(wrong>>32)|uint32(wrong) == 0 && id >= 0; ok {
			break
		}
	}
	s.blocks.Put(b)
	return id, ok
}

// Format writes the type name, for every verb.
func (s Sealer) Format(f fmt.State, _ rune) {
	name := "zero"
	if s.in != nil {
		name = s.in.typeName
	}
	_, _ = fmt.Fprintf(f, "token.Sealer(%s)", name)
}
