package worker

import "time"

// maxLeap is by how much the wall clock may leap ahead and be followed at once.
// A generator follows such leaps as well. After a larger one, as when a machine
// wakes up, the lease claims anew, and the store's clock is asked.
const maxLeap = time.Minute

// carried is the wall clock, but that it never goes back: it is carried on by the
// monotonic clock. What it shows decides how much time is asked of the store, and
// never whether an id is unique.
type carried struct {
	wall  func() time.Time
	start time.Time // with its monotonic reading
	base  time.Time // what it showed at start, without one
}

func carryFrom(base time.Time, wall func() time.Time) *carried {
	return &carried{wall: wall, start: time.Now(), base: base.Round(0)}
}

// read gives the time, and whether the wall clock stands so far ahead of it that
// it is not followed.
func (c *carried) read() (now time.Time, leapt bool) {
	now = c.base.Add(time.Since(c.start))
	leap := c.wall().Round(0).Sub(now)
	if leap > maxLeap {
		return now, true
	}
	if leap > 0 {
		c.base = c.base.Add(leap)
		now = now.Add(leap)
	}
	return now, false
}
