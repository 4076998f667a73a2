package core

import (
	"sync"
	"time"
)

// sleepers are the precise timers of all generators. Each needs a file, so they are few.
var sleepers [64]struct {
	sync.Mutex // only TryLock is used
	timer      preciseTimer
}

// sleepPrecisely sleeps for less than about a millisecond. It reports false at once if another
// call of the generator sleeps, or there is no timer left.
func (g *Generator) sleepPrecisely(d time.Duration) bool {
	if !g.sleeping.TryLock() {
		return false
	}
	defer g.sleeping.Unlock()
	for i := range sleepers {
		if s := &sleepers[i]; s.TryLock() {
			s.timer.sleep(d)
			s.Unlock()
			return true
		}
	}
	return false
}
