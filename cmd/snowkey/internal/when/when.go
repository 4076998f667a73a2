// Package when reads times as people type them.
package when

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Forms are the times that Parse takes, for messages and help.
const Forms = "2006-01-02, 2006-01-02T15:04:05Z, now, today, yesterday, tomorrow, -24h, +7d or @UNIXSECONDS"

const want = "want " + Forms

// Parse reads a time: RFC 3339; a date, with or without a time of day, which is
// of the zone loc; now, today, yesterday and tomorrow, the last three being
// midnight in loc; a span before or after now, in w, d (24 hours), h, m, s and
// ms; or Unix seconds after @.
//
// Of a time that clocks in loc show twice it is the first, and of one that they are
// set forward over, the instant at which they are: a day without midnight begins there.
func Parse(text string, now time.Time, loc *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	day := func(days int) (time.Time, error) {
		y, m, d := now.In(loc).Date()
		return first(time.Date(y, m, d+days, 0, 0, 0, 0, time.UTC), loc), nil
	}
	switch strings.ToLower(text) {
	case "":
		return time.Time{}, errors.New("is empty: " + want)
	case "now":
		return now, nil
	case "today":
		return day(0)
	case "yesterday":
		return day(-1)
	case "tomorrow":
		return day(1)
	}
	switch text[0] {
	case '@':
		return unix(text[1:])
	case '-', '+':
		span, err := Span(text[1:])
		if err != nil {
			return time.Time{}, err
		}
		if text[0] == '-' {
			span = -span
		}
		return now.Add(span), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text)); err == nil {
		return t, nil
	}
	for _, form := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01"} {
		if t, err := time.Parse(form, text); err == nil {
			return first(t, loc), nil
		}
	}
	return time.Time{}, errors.New(want)
}

// first is the instant at which clocks in loc first show what a clock in UTC shows at
// wall. Which one time.Date takes where there are two, or none, is not promised.
func first(wall time.Time, loc *time.Location) time.Time {
	y, m, d := wall.Date()
	t := time.Date(y, m, d, wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), loc)
	begin, end := t.ZoneBounds()
	_, offset := t.Zone()
	switch shown := t.Add(time.Duration(offset) * time.Second); {
	case shown.Before(wall):
		return end
	case shown.After(wall):
		return begin
	case begin.IsZero():
		return t
	}
	_, offset = begin.Add(-time.Nanosecond).Zone()
	if earlier := wall.Add(-time.Duration(offset) * time.Second); earlier.Before(begin) {
		return earlier.In(loc)
	}
	return t
}

// unix reads seconds, with a fraction of up to nine digits.
func unix(text string) (time.Time, error) {
	whole, fraction, dot := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	const most = 1 << 40 // far beyond every layout, and no overflow in what follows
	if err != nil || seconds < -most || seconds > most || len(fraction) > 9 || strings.Trim(fraction, "0123456789") != "" || dot && fraction == "" {
		return time.Time{}, errors.New("want Unix seconds after the @, such as @1767225600")
	}
	nanos, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if strings.HasPrefix(whole, "-") {
		nanos = -nanos
	}
	return time.Unix(seconds, nanos), nil
}

var units = []struct { //nolint:gochecknoglobals // constant
	name string
	long time.Duration
}{{"ms", time.Millisecond}, {"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// Span reads a span of time such as 24h, 7d or 1d12h: whole numbers, each with a
// unit.
func Span(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is no span of time such as 24h, 7d or 1d12h", text)
	if text == "" {
		return 0, wrong
	}
	var sum time.Duration
	for rest := text; rest != ""; {
		end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if end < 1 {
			return 0, wrong
		}
		n, err := strconv.ParseInt(rest[:end], 10, 64)
		if err != nil {
			return 0, wrong
		}
		rest = rest[end:]
		found := false
		for _, u := range units {
			if after, ok := strings.CutPrefix(rest, u.name); ok {
				if n > int64((math.MaxInt64-sum)/u.long) {
					return 0, fmt.Errorf("%q is longer than 292 years", text)
				}
				sum, rest, found = sum+time.Duration(n)*u.long, after, true
				break
			}
		}
		if !found {
			return 0, wrong
		}
	}
	return sum, nil
}
