package snowkeytest

import (
	"sync"
	"testing"
	"time"
)

// A Clock shows the time that the test has set. It does not run. Make it with NewClock.
// All methods may be called by many goroutines.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows start, or, if that is zero, 2024-01-01T00:00:00Z. Its
// method Now fits core.Config, worker.Config and memstore.Config.
func NewClock(_ testing.TB, start time.Time) *Clock {
	if start.IsZero() {
		start = defaultStart()
	}
	return &Clock{now: start.Round(0)}
}

// Now returns the time that was set.
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

// Advance adds d to the time. A negative d is a step back.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
