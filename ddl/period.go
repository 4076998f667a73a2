package ddl

import (
	"fmt"
	"time"
)

// A Period is how long a time a partition is for.
type Period string

// The periods. A week begins on Monday and is named as ISO 8601 counts it.
const (
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// A date is a day of the calendar, held as its midnight in UTC.
type date time.Time

// dateOf is the date on which the period that t falls in begins, by the calendar of t's location.
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

// starts is the first instant at which the place's calendar has the date, or a
// later one where it leaps over the date. So where midnight comes twice it is the
// first, and what the clocks repeat of the day before belongs to the date.
func (d date) starts(l *time.Location) time.Time {
	y, m, day := time.Time(d).Date()
	t := time.Date(y, m, day, 0, 0, 0, 0, l)
	y, m, day = t.Date()
	reached := time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	begin, end := t.ZoneBounds()
	switch reached.Compare(time.Time(d)) {
	case -1: // before a leap of the clocks over midnight
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

// label names the period in the name of a partition.
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
