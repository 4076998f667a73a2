package worker

import "time"

// maxLeap is the largest leap ahead of the wall clock that is followed at once. After
// a larger one, as when a machine wakes up, the store's clock is asked first.
const maxLeap = time.Minute

// A hybridClock is the wall clock, except that it never goes back: the monotonic clock
// carries it on. It decides how much time is asked of the store, never whether an id
// is unique.
type hybridClock struct {
	wall  func() time.Time
	start time.Time // with its monotonic reading
	base  time.Time // what the clock showed at start, without one
}

func newHybridClock(base time.Time, wall func() time.Time) *hybridClock {
	return &hybridClock{wall: wall, start: time.Now(), base: base.Round(0)}
}

// read gives the time, and by how much the wall clock is ahead of it. Up to maxLeap it
// is followed, so then that is zero.
func (c *hybridClock) read() (now time.Time, ahead time.Duration) {
	now = c.base.Add(time.Since(c.start))
	if ahead = c.wall().Round(0).Sub(now); ahead > maxLeap {
		return now, ahead
	}
	c.base = c.base.Add(max(ahead, 0))
	return now.Add(max(ahead, 0)), 0
}

// follow takes over a leap of the wall clock, whatever its size.
func (c *hybridClock) follow() {
	now, ahead := c.read()
	c.atLeast(now.Add(ahead))
}

// atLeast sets the clock to a time, if that is later than what it shows.
func (c *hybridClock) atLeast(t time.Time) bool {
	now, _ := c.read()
	if !t.After(now) {
		return false
	}
	c.start, c.base = time.Now(), t.Round(0)
	return true
}
