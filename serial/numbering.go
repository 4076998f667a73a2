package serial

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A Numbering describes numbers that count up for each business code, and start
// again at 1 with each day, month or year:
//
//	INV-20261121-000123
//
// [NewNumbers] checks it and hands them out. Text, Parse and Width need no Counter.
type Numbering struct {
	// Prefix stands first: at most 32 letters, digits and . _ - / of ASCII.
	// Zero: none; Code must then be given.
	Prefix string
	// Code is the business code that numbers are counted for. Numberings of one Code
	// and one Period share their numbers, in whatever process they are. It has what a
	// Prefix may have. Zero: the Prefix.
	Code string
	// Period after which numbers start again. Zero: Day.
	Period Period
	// Location is the zone whose midnight ends a period; time.Local is refused.
	// nil: UTC.
	Location *time.Location
	// Separator stands between the parts: at most 4 characters of ASCII's
	// punctuation, such as "-". Zero: none.
	Separator string
	// Digits of the number, 1 to 18. A number that has more is an error, never
	// written wider. Zero: 6.
	Digits int
	// Block is how many numbers are reserved at once: one round trip serves so many
	// calls of Next. What is left of a block when the process ends, or the period, is
	// skipped. Zero: 1.
	Block int64
	// Counter keeps how far numbers have come: a store of sqlstore or redisstore.
	// Required.
	Counter Counter
	// Now is the clock that says the date. nil: time.Now.
	Now func() time.Time
}

const mostDigits = 18

// Validate reports every fault in one [core.ConfigError].
func (n Numbering) Validate() error {
	_, err := n.check()
	return err
}

// check fills in the defaults.
func (n Numbering) check() (Numbering, error) {
	n, faults := n.checkText()
	add := func(field, value, reason string) {
		faults = append(faults, core.FieldError{Field: field, Value: value, Reason: reason})
	}
	if n.Code == "" {
		n.Code = n.Prefix
		if n.Prefix == "" {
			add("Code", `""`, "must be given where there is no Prefix")
		}
	} else if !codeOK(n.Code) {
		add("Code", quote(n.Code), codeRule)
	}
	if n.Block == 0 {
		n.Block = 1
	}
	if most := most(n.Digits); n.Block < 0 || n.Block > most && most > 0 {
		add("Block", fmt.Sprint(n.Block), fmt.Sprintf("must be 1 to %d, all that the digits can say", most))
	}
	if isNil(n.Counter) {
		add("Counter", "nil", "must be given")
	}
	if n.Now == nil {
		n.Now = time.Now
	}
	return n, configError(faults)
}

// checkText looks at what Text and Parse need, and fills in its defaults.
func (n Numbering) checkText() (Numbering, []core.FieldError) {
	var faults []core.FieldError
	add := func(field, value, reason string) {
		faults = append(faults, core.FieldError{Field: field, Value: value, Reason: reason})
	}
	if !codeOK(n.Prefix) {
		add("Prefix", quote(n.Prefix), codeRule)
	}
	if n.Period >= periods {
		add("Period", n.Period.String(), "must be Day, Month, Year or Forever")
	}
	if n.Location == nil {
		n.Location = time.UTC
	}
	if n.Location == time.Local {
		add("Location", "Local", "must be a zone by its name: the local one is another on another machine")
	}
	if !separatorOK(n.Separator) {
		add("Separator", quote(n.Separator), fmt.Sprintf("must have at most %d characters of ASCII's punctuation", maxSeparator))
	}
	if n.Digits == 0 {
		n.Digits = 6
	}
	if n.Digits < 1 || n.Digits > mostDigits {
		add("Digits", fmt.Sprint(n.Digits), fmt.Sprintf("must be 1 to %d", mostDigits))
	}
	return n, faults
}

const codeRule = "must have at most 32 letters, digits and . _ - / of ASCII"

// codeOK holds a code to what the stores take for a key.
func codeOK(code string) bool {
	return len(code) <= maxPrefix && !strings.ContainsFunc(code, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("._-/", c)
	})
}

// most is the greatest number of so many digits; 0 if there is none.
func most(digits int) int64 {
	if digits < 1 || digits > mostDigits {
		return 0
	}
	return int64(math.Pow10(digits)) - 1
}

// isNil is also true of a pointer or a function in the interface that is nil.
func isNil(c Counter) bool {
	if c == nil {
		return true
	}
	v := reflect.ValueOf(c)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}

// Width is how many characters each number has: the size of its column. It is 0 for
// a Numbering whose text is not valid; a Counter is not needed.
func (n Numbering) Width() int {
	n, faults := n.checkText()
	if len(faults) > 0 {
		return 0
	}
	return n.width()
}

func (n Numbering) width() int { return len(n.write("00000000"[:n.Period.width()], 1)) }

// Text writes a number of the period that t lies in. One that does not fit the
// digits is a [core.ConfigError].
func (n Numbering) Text(t time.Time, number int64) (string, error) {
	n, faults := n.checkText()
	if err := configError(faults); err != nil {
		return "", err
	}
	period, err := n.period(t)
	if err != nil {
		return "", err
	}
	if number < 1 || number > most(n.Digits) {
		return "", configError([]core.FieldError{{Field: "number", Value: fmt.Sprint(number), Reason: fmt.Sprintf("must be 1 to %d, those of at most %d digits", most(n.Digits), n.Digits)}})
	}
	return n.write(period, number), nil
}

// period is the text of the period that t lies in.
func (n Numbering) period(t time.Time) (string, error) {
	text, ok := n.Period.text(t.In(n.Location))
	if !ok {
		return "", configError([]core.FieldError{{Field: "time", Value: t.UTC().Format(time.RFC3339), Reason: "must lie in the years 0 to 9999"}})
	}
	return text, nil
}

// key is the counter's. The period has digits only, so the first colon ends it.
func (n Numbering) key(period string) string { return period + ":" + n.Code }

func (n Numbering) write(period string, number int64) string {
	b := make([]byte, 0, 80)
	if n.Prefix != "" {
		b = append(append(b, n.Prefix...), n.Separator...)
	}
	if period != "" {
		b = append(append(b, period...), n.Separator...)
	}
	return string(appendDigits(b, uint64(number), n.Digits))
}

// Parse reads what Text and [Numbers.Next] write, to the letter: the first instant of
// the period in Location (the zero time for Forever), which is not midnight where
// clocks skip that, and the number. All else is a [ParseError].
func (n Numbering) Parse(s string) (period time.Time, value int64, err error) {
	n, faults := n.checkText()
	if err := configError(faults); err != nil {
		return time.Time{}, 0, err
	}
	width := n.width()
	if !strings.HasPrefix(s, n.Prefix) {
		return time.Time{}, 0, &ParseError{s, "prefix", s[:min(len(n.Prefix), len(s))], "must be " + quote(n.Prefix)}
	}
	if len(s) != width {
		return time.Time{}, 0, &ParseError{s, "length", fmt.Sprint(len(s)), fmt.Sprintf("must be %d", width)}
	}
	r := reader{text: s, rest: s[len(n.Prefix):], separator: n.Separator}
	if n.Prefix != "" {
		r.skip()
	}
	var when string
	if n.Period != Forever {
		when = r.take("date", n.Period.width())
		r.skip()
	}
	digits := r.take("number", n.Digits)
	if r.err != nil {
		return time.Time{}, 0, r.err
	}
	period, fault := n.Period.start(when, n.Location)
	if fault != "" {
		return time.Time{}, 0, &ParseError{s, "date", when, fault}
	}
	if value = int64(number(digits)); value < 1 {
		return time.Time{}, 0, &ParseError{s, "number", digits, "must be at least 1"}
	}
	return period, value, nil
}
