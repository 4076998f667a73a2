// Package timetext reads and writes times. The command and the HTTP API share its
// grammar, and the page's times.js is held to it by testdata/vectors.json:
//
//	2006-01-02T15:04:05.000Z   RFC 3339; without a zone, in that of the caller
//	2006-01-02T15:04           without seconds; a space may replace the T
//	2006-01-02, 2006-01        the start of a day or a month
//	now                        and today, yesterday, tomorrow: the start of that day
//	now-24h, +1d12h            relative to now, in w, d (24 hours), h, m, s and ms
//	@1767225600.5              Unix seconds
//	1767225600500              Unix milliseconds, with at least 12 digits
//
// A shorter number may be either and is refused with both readings.
package timetext

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Forms lists the times that Parse reads, for help.
const Forms = "2006-01-02, 2006-01-02T15:04:05Z, now, today, yesterday, tomorrow, now-24h, +7d, @UNIXSECONDS or UNIXMILLISECONDS"

var (
	errForm  = errors.New("must be a time: " + Forms)
	errFixed = errors.New("must be a fixed time: 2006-01-02, 2006-01-02T15:04:05Z or UNIXMILLISECONDS")

	dateForm   = regexp.MustCompile(`^(\d{4}-\d{2})(?:(-\d{2})(?:[Tt ](\d{2}:\d{2})(?:(:\d{2})(\.\d{1,9})?)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?)?$`)
	unixForm   = regexp.MustCompile(`^@(-?)(\d{1,13})(?:\.(\d{1,9}))?$`)
	numberForm = regexp.MustCompile(`^-?\d{1,15}$`)
	spanForm   = regexp.MustCompile(`^(?i:now)?([+-])(?:\d+(?:w|d|h|ms|m|s))+$`)
	spanPart   = regexp.MustCompile(`(\d+)([a-z]+)`)
)

// Parse reads a time. A time without a zone is in loc. If the clocks of loc show it
// twice, the first counts; if they skip it, the instant at which they do.
func Parse(text string, now time.Time, loc *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if days, ok := map[string]int{"today": 0, "yesterday": -1, "tomorrow": 1}[strings.ToLower(text)]; ok {
		y, m, d := now.In(loc).Date()
		return firstInstant(time.Date(y, m, d+days, 0, 0, 0, 0, time.UTC), loc), nil
	}
	switch {
	case strings.EqualFold(text, "now"):
		return now, nil
	case spanForm.MatchString(text):
		span, err := parseSpan(text)
		if err != nil {
			return time.Time{}, err
		}
		return now.Add(span), nil
	}
	return parseFixed(text, loc, errForm)
}

// ParseEpoch reads a time that does not depend on the clock, in UTC if it names no zone.
// It is never the zero Time, which core takes for the default epoch.
func ParseEpoch(text string) (time.Time, error) {
	t, err := parseFixed(strings.TrimSpace(text), time.UTC, errFixed)
	if err == nil && t.IsZero() {
		err = errors.New("must be later than the beginning of the year 1")
	}
	return t, err
}

func parseFixed(text string, loc *time.Location, wrong error) (time.Time, error) {
	if m := unixForm.FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1]+m[2], 10, 64)
		nanos, _ := strconv.ParseInt(m[1]+(m[3] + "000000000")[:9], 10, 64)
		return time.Unix(seconds, nanos).UTC(), nil
	}
	if numberForm.MatchString(text) {
		n, _ := strconv.ParseInt(text, 10, 64)
		ms := time.UnixMilli(n).UTC()
		if n != 0 && len(strings.TrimPrefix(text, "-")) < 12 {
			return time.Time{}, fmt.Errorf("may be Unix seconds (%s) or milliseconds (%s): write @%d for seconds, or RFC 3339", Format(time.Unix(n, 0)), Format(ms), n)
		}
		return ms, nil
	}
	m := dateForm.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, wrong
	}
	for i, missing := range map[int]string{2: "-01", 3: "00:00", 4: ":00"} {
		if m[i] == "" {
			m[i] = missing
		}
	}
	const layout = "2006-01-02T15:04:05.999999999"
	text = m[1] + m[2] + "T" + m[3] + m[4] + m[5]
	t, err := time.Parse(layout, text)
	if err == nil && m[6] == "" {
		return firstInstant(t, loc), nil
	}
	if t, err = time.Parse(layout+"Z07:00", text+strings.ToUpper(m[6])); err != nil {
		return time.Time{}, wrong
	}
	return t, nil
}

// firstInstant is the instant at which clocks in loc first show what a clock in UTC shows at
// wall. time.Date does not promise which one it takes where there are two, or none.
func firstInstant(wall time.Time, loc *time.Location) time.Time {
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

// time.ParseDuration has neither days nor weeks, and takes fractions.
func parseSpan(text string) (time.Duration, error) {
	units := map[string]time.Duration{"w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond}
	var sum time.Duration
	for _, part := range spanPart.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseInt(part[1], 10, 64)
		unit := units[part[2]]
		if err != nil || n > int64((math.MaxInt64-sum)/unit) {
			return 0, errors.New("is longer than 292 years")
		}
		sum += time.Duration(n) * unit
	}
	if spanForm.FindStringSubmatch(text)[1] == "-" {
		sum = -sum
	}
	return sum, nil
}

// Stamp is the layout of the times that are written; milliseconds are the finest tick.
const Stamp = "2006-01-02T15:04:05.000Z07:00"

// Format writes a time in UTC.
func Format(t time.Time) string { return t.UTC().Format(Stamp) }

// FormatMilli writes a time in Unix milliseconds, as stores keep it.
func FormatMilli(ms int64) string { return Format(time.UnixMilli(ms)) }

// Relative says how far a time is from now, in its largest unit. humanize alone says "a
// long while" beyond 37 years, and time.Time.Sub ends at 292.
func Relative(t, now time.Time) string {
	const year = 31_556_952 // seconds, on average
	switch years := (t.Unix() - now.Unix()) / year; {
	case years < -2:
		return humanize.Comma(-years) + " years ago"
	case years > 2:
		return humanize.Comma(years) + " years from now"
	}
	return humanize.RelTime(t, now, "ago", "from now")
}

// Length writes a duration for people: about three digits below two days, then its largest
// unit, as in 253ms, 1h40m5s, 14h5m and 3 years.
func Length(d time.Duration) string {
	if d.Abs() >= 48*time.Hour {
		zero := time.Unix(0, 0)
		return strings.TrimSuffix(Relative(zero.Add(-d.Abs()), zero), " ago")
	}
	for unit := time.Duration(1); unit <= time.Second; unit *= 10 {
		if d.Abs() < 1000*unit {
			return d.Round(unit).String()
		}
	}
	if d.Abs() >= 10*time.Hour {
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}
