package core

import (
	"sync"
	"time"
)

// sleepers are the precise timers of all generators. They are shared by the process because each
// opens a file: one for each generator would exhaust the files of a process with 2,000 generators.
// There are more of them than a machine can keep busy with generators at their caps.
var sleepers [64]struct {
	mu    sync.Mutex // only TryLock is used
	timer preciseTimer
}

// sleepPrecisely sleeps for less than about a millisecond. It reports false at once if another
// call of the generator sleeps so, or no timer is left.
func (g *Generator) sleepPrecisely(d time.Duration) bool {
	if !g.sleeping.TryLock() {
		return false
	}
	defer g.sleeping.Unlock()
	for i := range sleepers {
		if s := &sleepers[i]; s.mu.TryLock() {
			s.timer.sleep(d)
			s.mu.Unlock()
			return true
		}
	}
	return false
}
