package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// stamp is a time as all commands write it; milliseconds are the finest tick.
const stamp = "2006-01-02T15:04:05.000Z07:00"

// relative says how far a time lies from now.
func relative(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case d > -time.Second && d < time.Second:
		return "now"
	case d == math.MaxInt64 || d == math.MinInt64: // Sub says no more than 292 years
		years := t.UTC().Year() - now.UTC().Year()
		if years < 0 {
			return fmt.Sprintf("%d years ago", -years)
		}
		return fmt.Sprintf("in %d years", years)
	case d < 0:
		return length(-d) + " ago"
	}
	return "in " + length(d)
}

// length is a span of time in its two largest units.
func length(d time.Duration) string {
	const day, year = 24 * time.Hour, 8766 * time.Hour
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return plural(int64(d/time.Second), "second")
	case d < time.Hour:
		return two(d, time.Minute, "minute", time.Second, "second")
	case d < day:
		return two(d, time.Hour, "hour", time.Minute, "minute")
	case d < 2*year:
		return two(d, day, "day", time.Hour, "hour")
	}
	return two(d, year, "year", day, "day")
}

func two(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	n, rest := int64(d/large), int64(d%large/small)
	if rest == 0 {
		return plural(n, largeName)
	}
	return plural(n, largeName) + " " + plural(rest, smallName)
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// grouped writes a number with commas.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	var parts []string
	for len(text) > 3 {
		parts = append([]string{text[len(text)-3:]}, parts...)
		text = text[:len(text)-3]
	}
	return sign + strings.Join(append([]string{text}, parts...), ",")
}
