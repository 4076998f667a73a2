package sqltype

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strconv"
)

// ID is a primary key. The zero value is the id 0, which means "not set". As numbers, and in the short
// forms of [ID.Base32], [ID.Bitcoin58] and [ID.Base62], IDs of one generator sort by age. As decimal
// strings they do so only if they have the same number of digits.
type ID int64

// Source issues ids, all above zero. Next returns one. Fill sets all elements of ids, in ascending
// order, or returns an error. Both methods must be safe for concurrent use. The generators of packages
// core and worker are Sources.
type Source interface {
	Next(ctx context.Context) (int64, error)
	Fill(ctx context.Context, ids []int64) error
}

// NextID returns the next id of src, which is above zero. An error of src is wrapped. The error is
// ErrNil if src is nil or a nil pointer or function, and ErrSource if an id is not above zero.
func NextID(ctx context.Context, src Source) (ID, error) {
	if isNil(src) {
		return 0, fmt.Errorf("sqltype: NextID: source is %w", ErrNil)
	}
	n, err := src.Next(ctx)
	if err != nil {
		return 0, fmt.Errorf("sqltype: NextID: %w", err)
	}
	if n <= 0 {
		return 0, valueError("NextID: source returned", n, ErrSource)
	}
	return ID(n), nil
}

// isNil reports whether v is nil, or a nil pointer or function.
func isNil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return value.IsNil()
	}
	return false
}

// Parse parses a decimal id: 0, or up to 19 digits without a leading zero. The error is
// ErrRange for a number above 9223372036854775807, ErrNegative for a number below zero of any
// size, and ErrSyntax for any other string, including -0 and numbers with a leading zero.
func Parse(s string) (ID, error) { return parse("parse", s) }

func parse[T string | []byte](op string, s T) (ID, error) {
	id, err := decimal(s)
	if err != nil {
		return 0, inputError(op, string(s), err)
	}
	return id, nil
}

// Int64 returns the id as an int64.
func (id ID) Int64() int64 { return int64(id) }

// IsZero reports whether the id is not set.
func (id ID) IsZero() bool { return id == 0 }

// Compare returns -1, 0 or +1 as id is less than, equal to or greater than other.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// String returns the id in decimal, as Parse reads it. A negative ID gets its sign, and cannot
// be parsed.
func (id ID) String() string {
	if id < 0 {
		return strconv.FormatInt(int64(id), 10)
	}
	var digits [maxDigits]byte
	text, _ := id.AppendText(digits[:0])
	return string(text)
}

// Format prints the decimal string for %s and %q, and the number for other verbs: %d and %v are
// decimal, %x is hexadecimal. Flags, width and precision work as for a string and an int64.
func (id ID) Format(f fmt.State, verb rune) {
	switch verb {
	case 's', 'q':
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), id.String())
	default:
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), int64(id))
	}
}

// MarshalText returns the decimal string, or ErrNegative if the id is negative.
func (id ID) MarshalText() ([]byte, error) {
	if id < 0 {
		return nil, valueError("encode", int64(id), ErrNegative)
	}
	// The caller may keep the result. Cutting strings from a block in a sync.Pool makes fewer
	// allocations, but takes as much memory and no less time.
	return id.AppendText(make([]byte, 0, maxDigits))
}

// UnmarshalText reads what Parse reads, with the same errors. On an error the id is unchanged.
func (id *ID) UnmarshalText(text []byte) error {
	n, err := parse("parse", text)
	return id.set("UnmarshalText", n, err)
}

// UnmarshalParam reads a path or query parameter, as Parse does. gin and echo call it. On an
// error the id is unchanged.
func (id *ID) UnmarshalParam(param string) error {
	n, err := Parse(param)
	return id.set("UnmarshalParam", n, err)
}

// Bind reads a parameter as UnmarshalParam does. The code that oapi-codegen generates calls it.
func (id *ID) Bind(param string) error { return id.UnmarshalParam(param) }

// set stores the result of a decoding method, or returns its error.
func (id *ID) set(op string, n ID, err error) error {
	switch {
	case id == nil:
		return nilReceiver(op)
	case err == nil:
		*id = n
	case err == ErrNull: //nolint:errorlint // a Sealer that fails may wrap it, and is no NULL
		return fmt.Errorf("sqltype: %s: %w", op, ErrNull)
	}
	return err
}
