package sqltype

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// Errors to test for with errors.Is. The functions and methods wrap them with the operation and at
// most 64 bytes of the input.
var (
	// ErrSyntax means that a string or a JSON value is not an id.
	ErrSyntax = errors.New("not a decimal id")
	// ErrRange means that an id is above 9223372036854775807.
	ErrRange = errors.New("above the largest id, 9223372036854775807")
	// ErrRounded means that an id is a JSON number from 2^53 on, which JavaScript may have rounded.
	ErrRounded = errors.New("a JSON number above 2^53 may have been rounded: send the id as a string")
	// ErrNegative means that an id is negative.
	ErrNegative = errors.New("an id is never negative")
	// ErrNull means that NULL was read into an ID or a Key.
	ErrNull = errors.New("cannot scan NULL into an ID or a Key: use a sqltype.NullID, a sqltype.NullKey or a pointer")
	// ErrType means that a value of this type cannot be an id.
	ErrType = errors.New("unsupported type")
	// ErrNil means that a source, a function or a destination is nil.
	ErrNil = errors.New("nil")
	// ErrPrefix means that a string does not have the prefix of the key's type.
	ErrPrefix = errors.New("not a key of this type")
	// ErrForm means that the Form of a key's type is wrong.
	ErrForm = errors.New("wrong Form")
	// ErrSource means that a source returned an id that is not above zero.
	ErrSource = errors.New("a source's ids must be above zero")
	// ErrOutcomeUnknown means that COMMIT was sent and not answered: the database has all rows, or
	// none. The rows keep their keys: look them up, or write them again, because the primary key
	// refuses those that exist.
	ErrOutcomeUnknown = errors.New("the outcome of COMMIT is unknown")
)

// syntaxError is an ErrSyntax with details about a base other than ten.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

func (syntaxError) Is(target error) bool { return target == ErrSyntax }

// quoteLimit limits how many bytes of an input an error quotes.
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

// typeError quotes the value, unless fmt.Sprint would print an address.
func typeError(op string, v any) error {
	switch reflect.TypeOf(v).Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan:
		return fmt.Errorf("sqltype: %s %T: %w", op, v, ErrType)
	}
	return fmt.Errorf("sqltype: %s %T %s: %w", op, v, quote(fmt.Sprint(v)), ErrType)
}

// nilReceiver returns the error of a decoding method that is called on a nil pointer.
func nilReceiver(op string) error {
	return fmt.Errorf("sqltype: %s: destination is %w", op, ErrNil)
}
