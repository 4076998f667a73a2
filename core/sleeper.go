package core

import (
	"sync"
	"sync/atomic"
	"time"
)

// sleeper lets one call at a time sleep precisely for less than about a millisecond.
type sleeper struct {
	mu     sync.Mutex // held by the call that sleeps; nothing waits for it
	closed atomic.Bool
	timer  preciseTimer
}

// sleep reports false at once if another call sleeps, or the sleeper is closed.
func (s *sleeper) sleep(d time.Duration) bool {
	if s.closed.Load() || !s.mu.TryLock() {
		return false
	}
	s.timer.sleep(d)
	s.mu.Unlock()
	s.free()
	return true
}

func (s *sleeper) close() {
	s.closed.Store(true)
	s.free()
}

// free frees the timer of a closed sleeper, unless a call that sleeps is going to.
func (s *sleeper) free() {
	if s.closed.Load() && s.mu.TryLock() {
		s.timer.close()
		s.mu.Unlock()
	}
}
