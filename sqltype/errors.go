package sqltype

import (
	"errors"
	"fmt"
	"strconv"
)

// Errors to test for with errors.Is. What the functions and methods return
// wraps them with the operation and the input, of which at most 64 bytes are
// quoted.
var (
	// ErrSyntax is returned when a text or a JSON value is not an id in the
	// package's grammar, or a text not one in the base asked for.
	ErrSyntax = errors.New("not a decimal id")
	// ErrRange is returned when an id is above 9223372036854775807.
	ErrRange = errors.New("above the largest id, 9223372036854775807")
	// ErrNegative is returned when an id to be encoded or decoded is negative.
	ErrNegative = errors.New("an id is never negative")
	// ErrNull is returned when NULL is read into an ID.
	ErrNull = errors.New("NULL does not fit an ID, use sqltype.NullID or *sqltype.ID")
	// ErrType is returned by Scan for a Go type it does not know.
	ErrType = errors.New("unsupported type")
	// ErrNil is returned when a source, a function or a destination is nil.
	ErrNil = errors.New("nil")
	// ErrSource is returned when a source gives an id that is not above zero.
	ErrSource = errors.New("a source's ids must be above zero")
)

// A syntaxError is an ErrSyntax in the words of another base than ten.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

func (syntaxError) Is(target error) bool { return target == ErrSyntax }

// quoteLimit bounds what an error repeats of an input that anyone may have sent.
const quoteLimit = 64

func quote(s string) string {
	if len(s) <= quoteLimit {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q and %d more bytes", s[:quoteLimit], len(s)-quoteLimit)
}

func inputError(op, input string, err error) error {
	return fmt.Errorf("sqltype: %s %s: %w", op, quote(input), err)
}

func valueError(op string, value int64, err error) error {
	return fmt.Errorf("sqltype: %s %d: %w", op, value, err)
}

// nilReceiver is for a decoding method that was called on a nil pointer.
func nilReceiver(op string) error {
	return fmt.Errorf("sqltype: %s: destination is %w", op, ErrNil)
}
