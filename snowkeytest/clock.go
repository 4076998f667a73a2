package snowkeytest

import (
	"sync"
	"testing"
	"time"
)

// A Clock returns the time that the test has set; it does not run. Make it with NewClock. All
// methods are safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that is set to start, or to 2024-01-01T00:00:00Z if start is zero. Its
// method Now fits core.Config, worker.Config and memstore.Config.
func NewClock(_ testing.TB, start time.Time) *Clock {
	if start.IsZero() {
		start = defaultStart()
	}
	return &Clock{now: start.Round(0)}
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the time, forward or back.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now.Round(0) // a monotonic reading would hide steps back
}

// Advance adds d to the time. A negative d sets the clock back.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
