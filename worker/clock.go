package worker

import "time"

// maxJump is the largest jump ahead of the wall clock that is followed at once. After a
// larger one, as when a machine wakes up, the store's clock is asked first.
const maxJump = time.Minute

// A hybridClock is the wall clock, except that it never goes back: it then continues on
// the monotonic clock. It determines how much time a lease asks the store for, never
// whether an id is unique.
type hybridClock struct {
	wall  func() time.Time
	start time.Time // with its monotonic reading
	base  time.Time // what the clock showed at start, without a monotonic reading
}

func newHybridClock(base time.Time, wall func() time.Time) *hybridClock {
	return &hybridClock{wall: wall, start: time.Now(), base: base.Round(0)}
}

// read returns the time, and how far the wall clock is ahead of it: more than maxJump, or
// zero, because smaller jumps are followed.
func (c *hybridClock) read() (now time.Time, ahead time.Duration) {
	now = c.base.Add(time.Since(c.start))
	if ahead = c.wall().Round(0).Sub(now); ahead > maxJump {
		return now, ahead
	}
	c.base = c.base.Add(max(ahead, 0))
	return now.Add(max(ahead, 0)), 0
}

// follow follows the wall clock ahead, however large the jump.
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
