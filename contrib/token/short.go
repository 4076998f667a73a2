package token

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A short token is the number of its key, as one digit, and the encrypted id.
const shortWidth = 1 + wordDigits

// ShortSealer makes and opens the short tokens of one type of rows. It is made by
// Ring.ShortSealer, and safe for concurrent use. The methods of a nil or zero ShortSealer return
// an error.
type ShortSealer struct{ in *shortSealer }

type shortSealer struct {
	typeName string
	keys     [shortNumbers]*ff1 // by number
	newest   int                // the number of the key that seals
	digits   *digits
	blocks   blocks
}

var _ sqltype.Sealer = (*ShortSealer)(nil)

// AppendSeal appends the token of the id to b: 12 digits. For a negative id the error is
// sqltype.ErrNegative. On an error it returns b unchanged.
func (s *ShortSealer) AppendSeal(b []byte, id sqltype.ID) ([]byte, error) {
	if s == nil || s.in == nil {
		return b, notMade("seal")
	}
	if id < 0 {
		return b, negative(id)
	}
	in := s.in
	key := in.keys[in.newest]
	high, low := in.digits.split(uint64(id))
	scratch := in.blocks.get()
	high, low = key.encrypt(high, low, scratch)
	in.blocks.put(scratch)

	all := slices.Grow(b, shortWidth)[:len(b)+shortWidth]
	text := all[len(b):]
	text[0] = in.digits.units[in.newest]
	in.digits.put((*[wordDigits]byte)(text[1:]), high, low)
	return all, nil
}

// Unseal returns the id of a token that AppendSeal made with any key of the ring. Many other texts
// open, too, because a token has no redundancy: of those that begin with the number of a key of the
// ring, 18% open to some id in base 62, and 37% in base 58. For the rest, the error is
// sqltype.ErrSyntax and quotes the text.
func (s *ShortSealer) Unseal(token string) (sqltype.ID, error) {
	if s == nil || s.in == nil {
		return 0, notMade("unseal")
	}
	in := s.in
	if len(token) != shortWidth {
		return 0, refuse(token, in.typeName, ": its length is %d, not %d", len(token), shortWidth)
	}
	number := in.digits.ones[token[0]]
	high, low, seen := in.digits.get(token[1:])
	if number|seen >= noDigit {
		return 0, refuse(token, in.typeName, ": it has other characters than digits of %s", in.digits.alphabet)
	}
	if number >= shortNumbers || in.keys[number] == nil {
		return 0, refuse(token, in.typeName, ": the ring has no short key with the number %d", number)
	}
	key := in.keys[number]
	scratch := in.blocks.get()
	high, low = key.decrypt(high, low, scratch)
	in.blocks.put(scratch)

	id, over := in.digits.join(high, low)
	if over != 0 || id > math.MaxInt64 {
		return 0, refuse(token, in.typeName, ": it opens to no id")
	}
	return sqltype.ID(id), nil
}

// Format writes the type name, for every verb.
func (s ShortSealer) Format(f fmt.State, _ rune) {
	name := "zero"
	if s.in != nil {
		name = s.in.typeName
	}
	_, _ = fmt.Fprintf(f, "token.ShortSealer(%s)", name)
}
