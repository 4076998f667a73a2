package serial

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// NumbersConfig configures [Numbers]. Prefix or Code is required.
type NumbersConfig struct {
	// Prefix of each number: at most 32 ASCII letters, digits and . _ - /
	// Zero: none; Code is then required.
	Prefix string
	// Code is the business code whose numbers are counted. All Numbers of one Code and
	// one Period share their numbers, in all processes. It may have the characters of a
	// Prefix. Zero: the Prefix.
	Code string
	// Period after which numbers restart. Zero: Day.
	Period Period
	// Location is the time zone whose midnight ends a period. time.Local is an error,
	// because it differs between machines. nil: UTC.
	Location *time.Location
	// Separator between the parts: at most 4 ASCII punctuation characters. Zero: none.
	Separator string
	// Digits of the number, 1 to 18. A number that needs more is an error. Zero: 6.
	Digits int
	// Block is how many numbers Next reserves in one round trip. The rest of a block is
	// skipped when the process or the period ends. Zero: 1.
	Block int64
	// Counter stores the last number: a store of sqlstore, redisstore, httpstore or etcdstore.
	// Only [Numbers.Next] needs it.
	Counter Counter
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// Counter is what reserves numbers: a store of sqlstore, redisstore, httpstore or etcdstore. It must not take a
// transaction from ctx, whose rollback would give the same numbers out again.
type Counter = driver.Counter

// CounterFunc is a function that implements Counter.
type CounterFunc func(ctx context.Context, key string, n int64) (first int64, err error)

// Reserve calls f.
func (f CounterFunc) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	return f(ctx, key, n)
}

const (
	maxDigits = 18
	codeRule  = "must have at most 32 ASCII letters, digits and . _ - /" // what the stores accept in a key
)

// check fills in the defaults, and returns what is wrong.
func (c *NumbersConfig) check() error {
	var wrong fields.Errors
	if !codeOK(c.Prefix) {
		wrong.Add("Prefix", c.Prefix, codeRule)
	}
	if c.Period >= periods {
		wrong.Add("Period", c.Period, "must be Day, Month, Year or Forever")
	}
	checkText(&wrong, &c.Location, c.Separator)
	c.Digits = cmp.Or(c.Digits, 6)
	if c.Digits < 1 || c.Digits > maxDigits {
		wrong.Add("Digits", c.Digits, "must be 1 to %d", maxDigits)
	}
	switch given := c.Code; {
	case given == "" && c.Prefix == "":
		wrong.Add("Code", "", "is required if Prefix is empty")
	case !codeOK(given):
		wrong.Add("Code", given, codeRule)
	}
	c.Code = cmp.Or(c.Code, c.Prefix)
	c.Block = cmp.Or(c.Block, 1)
	if limit := c.maxNumber(); c.Block < 0 || c.Block > limit {
		wrong.Add("Block", c.Block, "must be 1 to %d, the greatest number of the Digits", limit)
	}
	if c.Counter != nil && fields.IsNil(c.Counter) {
		wrong.Add("Counter", c.Counter, "must not be a nil pointer or function")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return wrong.Err("serial")
}

func codeOK(code string) bool {
	return len(code) <= maxPrefix && !strings.ContainsFunc(code, func(r rune) bool {
		return !alphanumeric(r) && !strings.ContainsRune("._-/", r)
	})
}

// maxNumber is the greatest number of the digits.
func (c *NumbersConfig) maxNumber() int64 {
	if c.Digits < 1 || c.Digits > maxDigits {
		return int64(1e18) - 1
	}
	return int64(math.Pow10(c.Digits)) - 1
}

// period returns the date of the period that contains t.
func (c *NumbersConfig) period(t time.Time) (string, error) {
	local := t.In(c.Location)
	if year := local.Year(); year < 0 || year > 9999 {
		return "", fields.Error("serial", "time", t.UTC().Format(time.RFC3339), "must lie in the years 0 to 9999")
	}
	return local.Format(c.Period.layout()), nil
}

// key is the counter's. A period has digits only, so the first colon ends it.
func (c *NumbersConfig) key(period string) string { return period + ":" + c.Code }

func (c *NumbersConfig) write(period string, number int64) string {
	b := make([]byte, 0, 80)
	for _, part := range [...]string{c.Prefix, period} {
		if part != "" {
			b = append(append(b, part...), c.Separator...)
		}
	}
	return string(appendDigits(b, uint64(number), c.Digits))
}

// Period is the time after which numbers restart at 1. The zero value is Day.
type Period uint8

// Periods begin at midnight in the zone of the [Numbers].
const (
	Day     Period = iota // 20261121
	Month                 // 202611
	Year                  // 2026
	Forever               // numbers never restart, and have no date

	periods // how many there are
)

// String returns the period's name.
func (p Period) String() string {
	if p >= periods {
		return fmt.Sprintf("Period(%d)", uint8(p))
	}
	return [...]string{"Day", "Month", "Year", "Forever"}[p]
}

// layout is the layout of the period's date, for package time.
func (p Period) layout() string { return [...]string{"20060102", "200601", "2006", ""}[p] }

// start returns the first instant of a period, or why there is none.
func (p Period) start(text string, loc *time.Location) (start time.Time, reason string) {
	if p == Forever {
		return time.Time{}, ""
	}
	day, err := time.Parse(p.layout(), text)
	if err != nil {
		return time.Time{}, "there is no such date"
	}
	// Clocks may skip midnight or show it twice, and skip a day at the date line.
	start = time.Unix(opening(loc, day.Unix()), 0).In(loc)
	if start.Format(p.layout()) != text {
		return time.Time{}, "clocks in " + loc.String() + " never show it"
	}
	return start, ""
}
