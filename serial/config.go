package serial

import (
	"errors"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Config configures a [Codec]. The zero value writes IDs of Twitter's layout in UTC,
// without prefix and check characters.
type Config struct {
	// Prefix of each serial: at most 32 visible ASCII characters. It may end in
	// digits, because all parts have a fixed width. Zero: none.
	Prefix string
	// Layout of the IDs. Zero: Twitter's.
	Layout core.Layout
	// Location is the time zone of date and time. A zone whose offset changes between
	// the layout's first and last tick needs Fold. time.Local is an error, because it
	// differs between machines. nil: UTC.
	Location *time.Location
	// Fold adds a digit after the time: 0, or 1 if clocks were set back and show that
	// time again. It permits a Location with daylight saving time.
	Fold bool
	// Separator between the parts: at most 4 ASCII punctuation characters. Zero: none.
	Separator string
	// Check says which check characters end the serial. They are computed from all digits
	// after the prefix. Zero: none.
	Check Scheme
}

const (
	maxPrefix    = 32
	maxSeparator = 4
)

// check fills in the defaults, and returns the errors that do not depend on how long
// the layout lasts.
func (c *Config) check() (wrong fields.Errors) {
	if len(c.Prefix) > maxPrefix || strings.ContainsFunc(c.Prefix, func(r rune) bool { return r <= ' ' || r > '~' }) {
		wrong.Add("Prefix", c.Prefix, "must have at most %d visible ASCII characters", maxPrefix)
	}
	var layout *core.ConfigError
	if err := c.Layout.Validate(); errors.As(err, &layout) {
		wrong = append(wrong, layout.Fields...)
	} else if err != nil {
		wrong.Add("Layout", c.Layout, err.Error())
	}
	c.Layout = c.Layout.WithDefaults()
	checkText(&wrong, &c.Location, c.Separator)
	if c.Check >= schemes {
		wrong.Add("Check", c.Check, "must be NoCheck, Mod97, Mod11, Mod1110 or Luhn")
	}
	return wrong
}

// checkText checks the fields that both kinds of strings have.
func checkText(wrong *fields.Errors, loc **time.Location, separator string) {
	switch *loc {
	case nil:
		*loc = time.UTC
	case time.Local:
		wrong.Add("Location", *loc, "must be a named zone: the local zone differs between machines")
	}
	if len(separator) > maxSeparator || strings.ContainsFunc(separator, func(r rune) bool { return r <= ' ' || r > '~' || alphanumeric(r) }) {
		wrong.Add("Separator", separator, "must have at most %d ASCII punctuation characters", maxSeparator)
	}
}

func alphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
