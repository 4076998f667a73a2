package serial

import (
	"math/rand/v2"
	"testing"
	"time"
)

// The calendar is that of package time, as far as both reach.
func TestCivil(t *testing.T) {
	check := func(day int64) {
		t.Helper()
		year, month, dom := date(day)
		y, m, d := time.Unix(day*secondsPerDay, 0).UTC().Date()
		if int64(year) != int64(y) || int(month) != int(m) || int(dom) != d {
			t.Fatalf("day %d is %d-%d-%d, want %d-%d-%d", day, year, month, dom, y, m, d)
		}
		if back := dayOf(year, month, dom); back != day {
			t.Fatalf("%d-%d-%d is day %d, want %d", year, month, dom, back, day)
		}
		if last := time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day(); int(daysIn(year, month)) != last {
			t.Fatalf("%d-%d has %d days, want %d", year, month, daysIn(year, month), last)
		}
	}
	const first = yearZero / secondsPerDay
	for day := int64(first); day < first+3*146097; day++ {
		check(day)
	}
	for day := range int64(40_000) {
		check(day)
	}
	for range 200_000 {
		check(first + rand.Int64N(1<<38)) // to where an int of 32 bits can still say the year
	}
	if year, month, dom := date(first); year != 0 || month != 1 || dom != 1 {
		t.Errorf("the first day is %d-%d-%d", year, month, dom)
	}
}
