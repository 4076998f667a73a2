package serial

import (
	"fmt"
	"time"
)

// A Period is how long numbers go on before they start again at 1.
type Period uint8

// The periods. They begin at midnight in the numbering's zone.
const (
	Day     Period = iota // 20261121
	Month                 // 202611
	Year                  // 2026
	Forever               // numbers never start again, and no date is written

	periods // how many there are
)

// String is the period's name.
func (p Period) String() string {
	switch p {
	case Day:
		return "Day"
	case Month:
		return "Month"
	case Year:
		return "Year"
	case Forever:
		return "Forever"
	}
	return fmt.Sprintf("Period(%d)", uint8(p))
}

// width is how many digits a date of the period has.
func (p Period) width() int { return [...]int{8, 6, 4, 0}[p] }

// text is the period that t lies in. It is not ok outside the years 0 to 9999.
func (p Period) text(t time.Time) (text string, ok bool) {
	year, month, dom := t.Date()
	if year < 0 || year > 9999 {
		return "", false
	}
	var room [8]byte
	b := appendDigits(room[:0], uint64(year), 4)
	b = appendDigits(appendDigits(b, uint64(month), 2), uint64(dom), 2)
	return string(b[:p.width()]), true
}

// start is when the period of that text begins, or what is wrong with the text.
func (p Period) start(text string, loc *time.Location) (t time.Time, fault string) {
	if p == Forever {
		return time.Time{}, ""
	}
	for i := range len(text) {
		if !isDigit(text[i]) {
			return time.Time{}, "must have digits only"
		}
	}
	full := text + "00000101"[len(text):]
	year, month, dom := number(full[:4]), number(full[4:6]), number(full[6:])
	if month < 1 || month > 12 || dom < 1 || dom > daysIn(year, month) {
		return time.Time{}, "there is no such date"
	}
	// Midnight may be skipped, or come twice; where clocks cross the date line, a day is.
	t = time.Unix(opening(loc, dayOf(year, month, dom)*secondsPerDay), 0).In(loc)
	if there, _ := p.text(t); there != text {
		return time.Time{}, "no clock in " + loc.String() + " ever shows it"
	}
	return t, ""
}
