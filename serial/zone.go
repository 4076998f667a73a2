package serial

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A zone turns instants into what a clock on the wall shows, and back. Both are
// seconds since 1970, of UTC and of the wall's own reckoning.
type zone struct {
	loc    *time.Location
	fixed  bool  // offset holds for the layout's whole span
	offset int64 // if fixed
}

const (
	// reach is farther than any offset of the time zone database, which RFC 8536
	// keeps below 26 hours: what a clock shows at L happened within this of L.
	reach = 26 * 3600
	// mostSteps is how many stretches of a zone are looked at. Only a made-up zone,
	// which changes its name for ever and never its offset, has so many.
	mostSteps = 100_000
)

// stretch is the offset at an instant, and an instant up to which it is known to
// hold. There is progress even where package time gives a bound that is not later,
// as it does on the last day of leap years beyond its table.
func stretch(loc *time.Location, at int64) (offset, until int64, forever bool) {
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

// newZone looks whether the offset holds from first to last. If not, the text says
// when it changes.
func newZone(loc *time.Location, first, last int64) (z zone, change string) {
	z.loc = loc
	offset, at, forever := stretch(loc, first)
	z.offset = offset
	for range mostSteps {
		if forever || at > last {
			z.fixed = true
			return z, ""
		}
		var next, until int64
		if next, until, forever = stretch(loc, at); next != offset {
			return z, fmt.Sprintf("changes its offset from %v to %v at %s", seconds(offset), seconds(next), show(at))
		}
		at = until
	}
	return z, "changes its name too often to tell whether its offset holds"
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

func show(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }

// wall is what a clock shows at an instant, and which time it shows that: 0 for
// the first. It is not ok where the zone has an offset beyond all reason.
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

// instants are those at which a clock shows the same, in their order.
type instants struct {
	of [10]int64 // as many as a digit tells apart
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

// instants finds all instants at which a clock shows local. It depends on nothing
// but local: that is what makes wall and it each other's inverse.
func (z *zone) instants(local int64, all *instants) {
	if z.fixed {
		all.of[0], all.n = local-z.offset, 1
		return
	}
	for at := local - reach; at <= local+reach; {
		offset, until, forever := stretch(z.loc, at)
		all.add(z, local-offset, offset)
		if forever {
			break
		}
		at = until
	}
	slices.Sort(all.of[:all.n])
}

// opening is the first instant at which a clock shows local, or more where clocks
// are set forward over it.
func opening(loc *time.Location, local int64) int64 {
	at, begin := local-reach, int64(math.MinInt64)
	for {
		offset, until, forever := stretch(loc, at)
		if first := max(begin, local-offset); forever || first < until {
			return first
		}
		at, begin = until, until
	}
}
