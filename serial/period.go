package serial

import (
	"fmt"
	"time"
)

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
