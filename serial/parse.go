package serial

import (
	"fmt"
	"strings"

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

// reader splits a string into its parts, which have fixed widths. It keeps the first error.
type reader struct {
	text, rest, separator string
	err                   error
}

// open checks the prefix and the length of a string, and reads on after the prefix.
func open(text, prefix, separator string, width int) (reader, error) {
	if !strings.HasPrefix(text, prefix) {
		return reader{}, &ParseError{text, "prefix", text[:min(len(prefix), len(text))], "must be " + fields.Quote(prefix)}
	}
	if len(text) != width {
		return reader{}, &ParseError{text, "length", fmt.Sprint(len(text)), fmt.Sprintf("must be %d", width)}
	}
	r := reader{text: text, rest: text[len(prefix):], separator: separator}
	if prefix != "" {
		r.skip()
	}
	return r, nil
}

func (r *reader) fail(part, value, reason string) {
	if r.err == nil {
		r.err = &ParseError{r.text, part, value, reason}
	}
}

// skip reads a separator.
func (r *reader) skip() {
	n := len(r.separator)
	if r.rest[:n] != r.separator {
		r.fail("separator", r.rest[:n], "must be "+fields.Quote(r.separator))
	}
	r.rest = r.rest[n:]
}

// take reads a group of digits.
func (r *reader) take(part string, width int) string {
	group := r.rest[:width]
	r.rest = r.rest[width:]
	for i := range len(group) {
		if !isDigit(group[i]) {
			r.fail(part, group, "must have digits only")
			break
		}
	}
	return group
}

// number parses at most 19 digits.
func number(digits string) (n uint64) {
	for i := range len(digits) {
		n = n*10 + uint64(digits[i]-'0')
	}
	return n
}
