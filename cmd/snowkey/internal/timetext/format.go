package timetext

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Stamp is the layout of the times that are written; milliseconds are the finest tick.
const Stamp = "2006-01-02T15:04:05.000Z07:00"

// Format writes a time in UTC.
func Format(t time.Time) string { return t.UTC().Format(Stamp) }

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

// Span writes milliseconds in days, hours, minutes and seconds, exactly.
func Span(ms uint64) string {
	if ms == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, u := range []struct {
		ms   uint64
		name string
	}{{86_400_000, "d"}, {3_600_000, "h"}, {60_000, "m"}} {
		if n := ms / u.ms; n > 0 {
			fmt.Fprintf(&b, "%d%s ", n, u.name)
			ms %= u.ms
		}
	}
	if ms > 0 {
		s := strings.TrimRight(fmt.Sprintf("%d.%03d", ms/1000, ms%1000), "0")
		b.WriteString(strings.TrimSuffix(s, ".") + "s")
	}
	return strings.TrimSpace(b.String())
}
