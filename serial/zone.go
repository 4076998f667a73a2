package serial

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// zone converts an instant to the local time that clocks show, and back. Both are in
// seconds since 1970, in UTC and on the local calendar.
type zone struct {
	loc    *time.Location
	fixed  bool  // offset holds from the layout's first tick to its last
	offset int64 // if fixed
}

const (
	// reach exceeds any offset of the time zone database: RFC 8536 limits them to 26
	// hours. So a local time L occurs at an instant within reach of L.
	reach = 26 * 3600
	// maxSteps limits how many periods of a zone newZone examines. Only an artificial
	// zone, which changes its name again and again but not its offset, has so many.
	maxSteps = 100_000
)

// offsetAt returns the offset at an instant, and an instant until which it holds. That is
// always later, though package time returns a bound that is not on the last day of leap
// years beyond its table.
func offsetAt(loc *time.Location, at int64) (offset, until int64, forever bool) {
	t := time.Unix(at, 0).In(loc)
	_, seconds := t.Zone()
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return int64(seconds), 0, true
	}
	if until = end.Unix(); until <= at {
		until = at + 3600
	}
	return int64(seconds), until, false
}

// newZone examines whether the offset holds from first to last. If not, change says why.
func newZone(loc *time.Location, first, last int64) (z zone, change string) {
	z.loc = loc
	offset, at, forever := offsetAt(loc, first)
	z.offset = offset
	for range maxSteps {
		if forever || at > last {
			z.fixed = true
			return z, ""
		}
		var next, until int64
		if next, until, forever = offsetAt(loc, at); next != offset {
			return z, fmt.Sprintf("changes its offset from %v to %v at %s", seconds(offset), seconds(next), show(at))
		}
		at = until
	}
	return z, "changes its name too often to say whether its offset holds"
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

func show(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }

// wall returns the local time at an instant, and how often it has occurred before. It is
// not ok if the zone has an offset beyond reach.
func (z *zone) wall(at int64) (local int64, fold uint64, ok bool) {
	if z.fixed {
		return at + z.offset, 0, true
	}
	_, offset := time.Unix(at, 0).In(z.loc).Zone()
	local = at + int64(offset)
	var all instants
	z.instants(local, &all)
	for i, t := range all.of[:all.n] {
		if t == at {
			return local, uint64(i), true
		}
	}
	return 0, 0, false
}

// instants are all at which clocks show one local time, in order.
type instants struct {
	of [10]int64 // as many as one digit distinguishes
	n  int
}

func (a *instants) add(z *zone, t, offset int64) {
	if slices.Contains(a.of[:a.n], t) || a.n == len(a.of) {
		return
	}
	if _, there := time.Unix(t, 0).In(z.loc).Zone(); int64(there) != offset {
		return
	}
	a.of[a.n] = t
	a.n++
}

// instants finds all instants at which clocks show local. It depends on local alone, so
// wall and instants are inverse.
func (z *zone) instants(local int64, all *instants) {
	if z.fixed {
		all.of[0], all.n = local-z.offset, 1
		return
	}
	for at := local - reach; at <= local+reach; {
		offset, until, forever := offsetAt(z.loc, at)
		all.add(z, local-offset, offset)
		if forever {
			break
		}
		at = until
	}
	slices.Sort(all.of[:all.n])
}

// opening is the first instant at which clocks show local, or later if they skip it.
func opening(loc *time.Location, local int64) int64 {
	at, begin := local-reach, int64(math.MinInt64)
	for {
		offset, until, forever := offsetAt(loc, at)
		if first := max(begin, local-offset); forever || first < until {
			return first
		}
		at, begin = until, until
	}
}
