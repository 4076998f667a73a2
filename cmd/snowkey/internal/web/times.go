package web

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const timeForms = "must be a time such as 2026-01-31T12:00:00Z, a date, or Unix milliseconds"

// The forms of a time: RFC 3339, where a missing zone means UTC and the time of day
// may end with the minutes; a date, which is its midnight in UTC; or Unix milliseconds.
var (
	timeForm = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$`)
	msForm   = regexp.MustCompile(`^-?\d{1,15}$`)
)

// parseTime reads a time. The page's times.js reads the same.
func parseTime(text string) (time.Time, bool) {
	if msForm.MatchString(text) {
		ms, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMilli(ms).UTC(), err == nil
	}
	m := timeForm.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	part := func(i int) string {
		if m[i] == "" {
			return "00"
		}
		return m[i]
	}
	zone := strings.ToUpper(m[8])
	if zone == "" {
		zone = "Z"
	}
	whole := m[1] + "-" + m[2] + "-" + m[3] + "T" + part(4) + ":" + part(5) + ":" + part(6)
	if m[7] != "" {
		whole += "." + m[7]
	}
	t, err := time.Parse(time.RFC3339Nano, whole+zone) // it knows how long months are
	return t.UTC(), err == nil
}

// time is a parameter that is a time.
func (p *params) time(name string) (t time.Time, given bool) {
	text, given := p.text(name)
	if !given {
		return time.Time{}, false
	}
	t, ok := parseTime(text)
	if !ok {
		p.fault(name, text, timeForms)
	}
	return t, ok
}

// formatTime writes a time as the page does, also beyond the year 9999.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// formatSpan writes a number of milliseconds in days, hours, minutes and seconds.
func formatSpan(ms uint64) string {
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
