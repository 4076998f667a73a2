package ddl

import (
	"fmt"
	"time"
)

// Period is the time that one partition spans.
type Period string

// The periods. A week begins on Monday and is named as ISO 8601 counts it.
const (
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// date is a day of the calendar, stored as its midnight in UTC.
type date time.Time

// dateOf is the first date of the period that contains t, in t's location.
func (p Period) dateOf(t time.Time) date {
	y, m, d := t.Date()
	switch p {
	case Week:
		d -= (int(t.Weekday()) + 6) % 7
	case Month:
		d = 1
	}
	return date(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
}

// move is n periods later.
func (p Period) move(d date, n int) date {
	switch p {
	case Week:
		return date(time.Time(d).AddDate(0, 0, 7*n))
	case Month:
		return date(time.Time(d).AddDate(0, n, 0))
	}
	return date(time.Time(d).AddDate(0, 0, n))
}

// starts is the first instant of the date in a location, or the next instant if clocks skip
// the date. If midnight occurs twice it is the first, so the repeated time of the day before
// belongs to the date.
func (d date) starts(l *time.Location) time.Time {
	y, m, day := time.Time(d).Date()
	t := time.Date(y, m, day, 0, 0, 0, 0, l)
	y, m, day = t.Date()
	reached := time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	begin, end := t.ZoneBounds()
	switch reached.Compare(time.Time(d)) {
	case -1: // before clocks skip midnight
		return end
	case 1: // after it
		return begin
	}
	_, offset := t.Add(-26 * time.Hour).Zone()
	earlier := time.Time(d).Add(-time.Duration(offset) * time.Second).In(l)
	if _, still := earlier.Zone(); still == offset && earlier.Before(t) {
		return earlier
	}
	return t
}

// label is the period's part of a partition's name.
func (p Period) label(d date) string {
	t := time.Time(d)
	switch p {
	case Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04dw%02d", year, week)
	case Month:
		return fmt.Sprintf("%04d%02d", t.Year(), t.Month())
	}
	return fmt.Sprintf("%04d%02d%02d", t.Year(), t.Month(), t.Day())
}
