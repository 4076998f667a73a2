package sqltype

import (
	"fmt"
	"math"
	"math/bits"
)

// The digits of the short forms, in byte order, so that strings of a fixed width sort like the ids.
const (
	digits32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"                               // Crockford's: no I, L, O, U
	lower32  = "0123456789abcdefghjkmnpqrstvwxyz"                               // of prefixed keys
	digits58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"     // Bitcoin's: no 0, I, O, l
	flickr58 = "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"     // bwmarrin's, only read
	digits62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" // all of them
)

// How many digits the largest id has.
const (
	width32 = 13
	width58 = 11
	width62 = 11
)

// Base32 returns the id as 13 digits of Crockford's base 32, in upper case: without letters that
// look like digits, and safe in URLs, file names and databases that ignore case. Strings sort
// byte by byte like the ids. A negative ID gets a minus sign, and cannot be parsed.
func (id ID) Base32() string { return string(id.AppendBase32(make([]byte, 0, width32+1))) }

// Bitcoin58 returns the id as 11 digits of base 58 with Bitcoin's alphabet, which omits 0, I, O and l.
// Otherwise it is like Base62. Base58 of bwmarrin/snowflake differs: see [ParseBwmarrin58].
func (id ID) Bitcoin58() string { return string(id.AppendBitcoin58(make([]byte, 0, width58+1))) }

// Base62 returns the id as 11 digits of base 62: 0-9, A-Z, a-z. Strings sort byte by byte like the
// ids. Case matters, so a column of them needs a binary collation. A negative ID gets a minus
// sign, and cannot be parsed.
func (id ID) Base62() string { return string(id.AppendBase62(make([]byte, 0, width62+1))) }

// AppendBase32 appends what Base32 returns to b.
func (id ID) AppendBase32(b []byte) []byte {
	b, n := id.sign(b)
	return append32(b, digits32, n)
}

func append32(b []byte, digits string, n uint64) []byte {
	var t [width32]byte
	for i := width32 - 1; i >= 0; i-- {
		t[i] = digits[n%32]
		n /= 32
	}
	return append(b, t[:]...)
}

// AppendBitcoin58 appends what Bitcoin58 returns to b.
func (id ID) AppendBitcoin58(b []byte) []byte {
	b, n := id.sign(b)
	var t [width58]byte
	for i := width58 - 1; i >= 0; i-- {
		t[i] = digits58[n%58] // by a constant, which the compiler turns into a multiplication
		n /= 58
	}
	return append(b, t[:]...)
}

// AppendBase62 appends what Base62 returns to b.
func (id ID) AppendBase62(b []byte) []byte {
	b, n := id.sign(b)
	var t [width62]byte
	for i := width62 - 1; i >= 0; i-- {
		t[i] = digits62[n%62]
		n /= 62
	}
	return append(b, t[:]...)
}

// sign appends the minus sign of a negative id, and returns the id without it.
func (id ID) sign(b []byte) ([]byte, uint64) {
	if id < 0 {
		return append(b, '-'), -uint64(id) // also right for the lowest int64, whose negation overflows
	}
	return b, uint64(id)
}

// ParseBase32 parses what [ID.Base32] returns: exactly 13 digits. As Crockford specifies, it accepts
// lower case, I and L for 1, and O for 0. So an id has several spellings in this form: compare ids,
// not strings. Hyphens and check symbols are errors.
//
// The error is ErrRange for a number above the largest id, ErrNegative for a minus sign before 13
// digits, and ErrSyntax for any other string.
func ParseBase32(s string) (ID, error) { return parseForm(&form32, s) }

// ParseBitcoin58 parses what [ID.Bitcoin58] returns: exactly 11 digits, so an id has one spelling. It
// returns the errors of ParseBase32.
func ParseBitcoin58(s string) (ID, error) { return parseForm(&form58, s) }

// ParseBwmarrin58 parses what Base58 of bwmarrin/snowflake returns: 1 to 11 digits without leading
// zeros, in an alphabet with the lower case first. Most such strings are also valid for
// [ParseBitcoin58], but as another id, so you must know which program wrote a string. It returns the
// errors of ParseBase32.
func ParseBwmarrin58(s string) (ID, error) {
	if len(s) == 0 || len(s) > 1 && s[0] == flickr58[0] {
		return 0, inputError("parse bwmarrin's base 58", s, syntaxError("not an id in this form"))
	}
	f := formBwmarrin
	f.width = min(len(s), width58)
	return parseForm(&f, s)
}

// ParseBase62 parses what [ID.Base62] returns. Otherwise it is like ParseBitcoin58.
func ParseBase62(s string) (ID, error) { return parseForm(&form62, s) }

// form is a base for the parser.
type form struct {
	base   uint64
	width  int
	values [256]byte // the value of each digit; noDigit for other bytes
}

const noDigit = 0xff

var (
	form32 = newForm(digits32, width32, lower32, digits32, "IiLlOo", "111100")
	form58 = newForm(digits58, width58)
	form62 = newForm(digits62, width62)

	formBwmarrin = newForm(flickr58, width58)
)

// newForm returns a form for the digits. In each pair of aliases, the first string lists other
// spellings of the digits in the second.
func newForm(digits string, width int, aliases ...string) form {
	f := form{base: uint64(len(digits)), width: width}
	for i := range f.values {
		f.values[i] = noDigit
	}
	for i := range len(digits) {
		f.values[digits[i]] = byte(i)
	}
	for ; len(aliases) > 0; aliases = aliases[2:] {
		for i := range len(aliases[0]) {
			f.values[aliases[0][i]] = f.values[aliases[1][i]]
		}
	}
	return f
}

func parseForm(f *form, s string) (ID, error) {
	id, err := parseDigits(f, s)
	if err != nil {
		return 0, inputError(fmt.Sprintf("parse base %d", f.base), s, err)
	}
	return id, nil
}

// parseDigits returns an error without the operation and the input.
func parseDigits[S string | []byte](f *form, s S) (ID, error) {
	digits, negative := s, false
	if len(s) > 0 && s[0] == '-' {
		digits, negative = s[1:], true // not an id, but the error can say why
	}
	if len(digits) != f.width {
		return 0, syntaxError(fmt.Sprintf("not an id in base %d, which has %d digits", f.base, f.width))
	}
	var n, over uint64
	for i := range len(digits) {
		d := f.values[digits[i]]
		if d == noDigit {
			return 0, syntaxError(fmt.Sprintf("not an id in base %d: byte %d is no digit of it", f.base, len(s)-len(digits)+i+1))
		}
		var carry, high uint64
		high, n = bits.Mul64(n, f.base)
		n, carry = bits.Add64(n, uint64(d), 0)
		over |= high | carry
	}
	switch {
	case negative:
		return 0, ErrNegative
	case over != 0 || n > math.MaxInt64:
		return 0, ErrRange
	}
	return ID(n), nil
}
