package serial

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A Format says how an id is written for people: the prefix, the date and time of
// its tick to the millisecond in a zone, roll-back, worker and sequence as far as
// the layout has them, and check characters, each of a width of its own:
//
//	PAY 20261121153045123 0817 0042 29
//
// The zero Format writes Twitter's layout in UTC, without prefix and check. The
// methods check and prepare the format each time; [New] does so once.
type Format struct {
	// Prefix stands first: at most 32 visible characters of ASCII. It may end in
	// digits: the width of all that follows is known. Zero: none.
	Prefix string
	// Layout of the ids. Zero: Twitter's.
	Layout core.Layout
	// Location is the zone of the date and time. One whose offset changes while the
	// layout lasts is refused, unless Fold is set; so is time.Local, which is another
	// one on another machine. nil: UTC.
	Location *time.Location
	// Fold adds a digit behind the time: 0, or 1 where clocks were set back and show
	// that time again. It lets Location be a zone with summer time.
	Fold bool
	// Separator stands between the parts: at most 4 characters of ASCII's
	// punctuation, such as "-". Zero: none.
	Separator string
	// Check adds check characters at the end, over all digits behind the prefix.
	Check bool
	// Scheme of the check characters. Zero: Mod97, of two digits.
	Scheme Scheme
}

const (
	maxPrefix    = 32
	maxSeparator = 4
)

// Validate reports every fault of the format, and of its layout, in one
// [core.ConfigError].
func (f Format) Validate() error {
	var c Codec
	return c.compile(f)
}

// Width is how many characters each serial of the format has. It is 0 for a
// format that is not valid.
func (f Format) Width() int {
	var c Codec
	if c.compile(f) != nil {
		return 0
	}
	return c.width
}

// Encode writes an id. One that is not of the layout is a [core.RangeError].
func (f Format) Encode(id int64) (string, error) {
	var c Codec
	if err := c.compile(f); err != nil {
		return "", err
	}
	return c.Encode(id)
}

// Decode reads what Encode has written, to the letter; all else is a [ParseError].
func (f Format) Decode(s string) (int64, error) {
	var c Codec
	if err := c.compile(f); err != nil {
		return 0, err
	}
	return c.Decode(s)
}

// faults are those that can be seen before the layout's span is known.
func (f Format) faults() (faults []core.FieldError) {
	add := func(field, value, reason string) {
		faults = append(faults, core.FieldError{Field: field, Value: value, Reason: reason})
	}
	if len(f.Prefix) > maxPrefix || strings.ContainsFunc(f.Prefix, func(c rune) bool { return c <= ' ' || c > '~' }) {
		add("Prefix", quote(f.Prefix), fmt.Sprintf("must have at most %d visible characters of ASCII", maxPrefix))
	}
	var layout *core.ConfigError
	if err := f.Layout.Validate(); errors.As(err, &layout) {
		faults = append(faults, layout.Fields...)
	} else if err != nil {
		add("Layout", f.Layout.String(), err.Error())
	}
	if f.Location == time.Local {
		add("Location", "Local", "must be a zone by its name: the local one is another on another machine")
	}
	if !separatorOK(f.Separator) {
		add("Separator", quote(f.Separator), fmt.Sprintf("must have at most %d characters of ASCII's punctuation", maxSeparator))
	}
	if f.Scheme >= schemes {
		add("Scheme", f.Scheme.String(), "must be Mod97, Mod11, Mod1110 or Luhn")
	} else if f.Scheme != Mod97 && !f.Check {
		add("Check", "false", "must be true where a Scheme is chosen, here "+f.Scheme.String())
	}
	return faults
}

// separatorOK refuses what could be taken for a part of a number or of a word.
func separatorOK(s string) bool {
	return len(s) <= maxSeparator && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c > '~' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	})
}
