package sqltype

import (
	"cmp"
	"context"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// An ID is a primary key. The zero value is the id 0, which stands for "not
// set". IDs of one generator sort by their age, as numbers; as decimal text they
// do so only where they have the same number of digits, and in the short forms
// of [ID.Base32], [ID.Base58] and [ID.Base62] always.
type ID int64

var (
	_ fmt.Stringer             = ID(0)
	_ fmt.Formatter            = ID(0)
	_ encoding.TextAppender    = ID(0)
	_ encoding.TextMarshaler   = ID(0)
	_ encoding.TextUnmarshaler = (*ID)(nil)

	// What packages look for without a name of their own for it in the standard
	// library: omitzero, gin and echo, gorm.
	_ interface{ IsZero() bool }                = ID(0)
	_ interface{ Compare(ID) int }              = ID(0)
	_ interface{ UnmarshalParam(string) error } = (*ID)(nil)
	_ interface{ GormDataType() string }        = ID(0)
)

// A Source makes ids, one at a call. Generators of the core package are sources.
type Source interface {
	Next(ctx context.Context) (int64, error)
}

// New takes the next id from src. The ID it returns without an error is above
// zero. An error of src is returned wrapped; ErrNil is returned if src is nil or
// holds a nil pointer or function, and ErrSource if src gives an id that is not above zero.
func New(ctx context.Context, src Source) (ID, error) {
	if isNil(src) {
		return 0, fmt.Errorf("sqltype: New: source is %w", ErrNil)
	}
	n, err := src.Next(ctx)
	if err != nil {
		return 0, fmt.Errorf("sqltype: New: %w", err)
	}
	if n <= 0 {
		return 0, valueError("New: source gave", n, ErrSource)
	}
	return ID(n), nil
}

// isNil reports whether there is nothing in v, or a nil pointer or function.
func isNil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return value.IsNil()
	}
	return false
}

// Parse reads a decimal id: 0, or up to 19 digits without a leading zero. It
// returns ErrRange if the number is above 9223372036854775807, ErrNegative if it
// has a minus sign before it and is not 0, however large it is, and ErrSyntax for
// any other text that is not an id, -0 and numbers with a leading zero among them.
func Parse(s string) (ID, error) {
	id, err := decimal(s)
	if err != nil {
		return 0, inputError("parse", s, err)
	}
	return id, nil
}

// maxDigits is the number of digits of the largest id.
const maxDigits = 19

// decimal is the one place that knows the grammar. It returns the bare
// sentinel, to which the caller adds what it was doing.
func decimal[T string | []byte](s T) (ID, error) {
	first := 0 // the first digit
	if len(s) > 0 && s[0] == '-' {
		first = 1 // no id, but the error can say why
	}
	digits := len(s) - first
	if digits == 0 || s[first] == '0' && len(s) > 1 {
		return 0, ErrSyntax
	}
	var n uint64
	for i := first; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return 0, ErrSyntax
		}
		if i < maxDigits { // 19 digits cannot overflow a uint64
			n = n*10 + uint64(d)
		}
	}
	if first > 0 {
		return 0, ErrNegative
	}
	if digits > maxDigits || n > math.MaxInt64 {
		return 0, ErrRange
	}
	return ID(n), nil
}

// Int64 returns the id as a number, for APIs that know nothing of ID.
func (id ID) Int64() int64 { return int64(id) }

// IsZero reports whether the id is not set.
func (id ID) IsZero() bool { return id == 0 }

// Compare returns -1, 0 or +1 as id is less than, equal to or greater than other.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// String returns the id in decimal. It is the form that Parse reads, except for
// a negative ID, which is printed with its sign and cannot be read back.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Format prints the decimal text for %s and %q and the number for every other
// verb: %d and %v are decimal, %x is hexadecimal. Flags, width and precision
// mean what they mean for a string and for an int64.
func (id ID) Format(f fmt.State, verb rune) {
	switch verb {
	case 's', 'q':
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), id.String())
	default:
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), int64(id))
	}
}

// AppendText appends the decimal text to b. It returns b unchanged and
// ErrNegative if the id is negative.
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id < 0 {
		return b, valueError("encode", int64(id), ErrNegative)
	}
	return strconv.AppendInt(b, int64(id), 10), nil
}

// MarshalText returns the decimal text, or ErrNegative if the id is negative.
func (id ID) MarshalText() ([]byte, error) {
	if id < 0 {
		return nil, valueError("encode", int64(id), ErrNegative)
	}
	return strconv.AppendInt(make([]byte, 0, maxDigits), int64(id), 10), nil
}

// UnmarshalText reads what Parse reads and returns the same errors. On an error
// the id keeps its value.
func (id *ID) UnmarshalText(text []byte) error {
	if id == nil {
		return nilReceiver("UnmarshalText")
	}
	n, err := decimal(text)
	if err != nil {
		return inputError("parse", string(text), err)
	}
	*id = n
	return nil
}
