package serial

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// ParseError is the error for a string that Encode or Format cannot have written. It names
// the part that is wrong.
type ParseError struct {
	Text   string // all of it
	Part   string // "prefix", "length", "separator", "time", "fold", "rollback", "worker", "sequence", "check", "date", "number" or "character"
	Value  string // that part of the string
	Reason string // what it must be
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("serial: %s: the %s %s: %s", fields.Quote(e.Text), e.Part, fields.Quote(e.Value), e.Reason)
}

// ExhaustedError is the error of a period that has no number left of its Digits.
type ExhaustedError struct {
	Key    string // of the counter: "20261121:INV"
	Digits int
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("serial: all numbers of %d digits under the key %q are used; more Digits or another Code provide new ones", e.Digits, e.Key)
}
