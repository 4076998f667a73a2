// Package notation reads and writes ids in the forms that people have them in:
// decimal, hexadecimal, and the short forms of package sqltype.
package notation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A Notation is a way to write an id.
type Notation string

// The notations.
const (
	Decimal Notation = "decimal"
	Hex     Notation = "hex"
	Base58  Notation = "base58"
	Base62  Notation = "base62"
	Base32  Notation = "base32"
)

// All lists the notations in the order in which Guess prefers them.
func All() []Notation { return []Notation{Decimal, Hex, Base58, Base62, Base32} }

// Append writes an id. Of an unsigned one the sign bit is a digit's; it has no
// short forms, which end at the largest int64.
func (n Notation) Append(b []byte, id int64, unsigned bool) []byte {
	switch n {
	case Hex:
		return strconv.AppendUint(append(b, "0x"...), uint64(id), 16)
	case Base58:
		return sqltype.ID(id).AppendBase58(b)
	case Base62:
		return sqltype.ID(id).AppendBase62(b)
	case Base32:
		return sqltype.ID(id).AppendBase32(b)
	}
	if unsigned {
		return strconv.AppendUint(b, uint64(id), 10)
	}
	return strconv.AppendInt(b, id, 10)
}

// Text writes an id.
func (n Notation) Text(id int64, unsigned bool) string { return string(n.Append(nil, id, unsigned)) }

// Signed reports whether the notation ends at the largest int64.
func (n Notation) Signed() bool { return n != Decimal && n != Hex }

// Read reads an id that is in this notation.
func (n Notation) Read(text string, unsigned bool) (int64, error) {
	var id sqltype.ID
	var err error
	switch n {
	case Hex:
		return hex(text, unsigned)
	case Base58:
		id, err = sqltype.ParseBase58(text)
	case Base62:
		id, err = sqltype.ParseBase62(text)
	case Base32:
		id, err = sqltype.ParseBase32(text)
	default:
		if unsigned {
			return decimal(text)
		}
		id, err = sqltype.Parse(text)
	}
	return int64(id), plain(err)
}

// plain is the reason of sqltype's error, without the input that stands beside it.
func plain(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// decimal reads an id of an Unsigned layout: up to 2^64-1, or as the int64 that a
// database shows.
func decimal(text string) (int64, error) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && strconv.FormatUint(n, 10) == text {
		return int64(n), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return n, nil
	}
	if text != "" && strings.Trim(text, "0123456789") == "" && text[0] != '0' {
		return 0, errors.New("above 18446744073709551615")
	}
	return 0, sqltype.ErrSyntax
}

func hex(text string, unsigned bool) (int64, error) {
	digits := text
	if len(text) > 2 && (text[:2] == "0x" || text[:2] == "0X") {
		digits = text[2:]
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("has more than 64 bits")
	case err != nil || digits[0] == '+':
		return 0, errors.New("not hexadecimal digits")
	case !unsigned && int64(n) < 0:
		return 0, sqltype.ErrRange
	}
	return int64(n), nil
}

// quoteLimit bounds what an error repeats of an input.
const quoteLimit = 64

// Quote shows an input in a message.
func Quote(text string) string {
	if len(text) <= quoteLimit {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q and %d more bytes", text[:quoteLimit], len(text)-quoteLimit)
}
