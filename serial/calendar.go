package serial

// The calendar in 64 bits on every machine: a wide layout reaches beyond the year 2^31,
// where the int of package time may end.

const (
	secondsPerDay = 86400
	// From 1 March of the year 0, where the days below begin, to 1970.
	daysToUnix = 719468
	// The first second of the year 0.
	yearZero = -(daysToUnix + 60) * secondsPerDay
)

// date is the date of a day since 1970, not before the year 0. Internally a year begins
// in March, so that a leap day is its last.
func date(day int64) (year, month, dom uint64) {
	z := uint64(day + daysToUnix + 146097) // plus a cycle of 400 years, so that January of the year 0 is positive
	cycle, doc := z/146097, z%146097
	yoc := (doc - doc/1460 + doc/36524 - doc/146096) / 365
	doy := doc - (365*yoc + yoc/4 - yoc/100)
	m := (5*doy + 2) / 153
	dom = doy - (153*m+2)/5 + 1
	year = cycle*400 + yoc - 400
	if m < 10 {
		return year, m + 3, dom
	}
	return year + 1, m - 9, dom
}

// dayOf is the inverse of date.
func dayOf(year, month, dom uint64) int64 {
	year += 400
	if month <= 2 {
		year, month = year-1, month+12
	}
	cycle, yoc := year/400, year%400
	doy := (153*(month-3)+2)/5 + dom - 1
	doc := yoc*365 + yoc/4 - yoc/100 + doy
	return int64(cycle*146097+doc) - daysToUnix - 146097
}

// daysIn is the length of a month.
func daysIn(year, month uint64) uint64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// floorDiv is n / d rounded down.
func floorDiv(n, d int64) (quotient, rest int64) {
	quotient, rest = n/d, n%d
	if rest < 0 {
		quotient, rest = quotient-1, rest+d
	}
	return quotient, rest
}
