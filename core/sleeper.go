package core

import (
	"sync"
	"sync/atomic"
	"time"
)

// sleeper lets one call at a time sleep precisely for less than about a millisecond.
type sleeper struct {
	mu     sync.Mutex // held by the call that sleeps; only TryLock is used
	closed atomic.Bool
	timer  preciseTimer
}

// sleep sleeps for d. It reports false at once if another call sleeps or the sleeper is closed.
func (s *sleeper) sleep(d time.Duration) bool {
	if s.closed.Load() || !s.mu.TryLock() {
		return false
	}
	s.timer.sleep(d)
	s.mu.Unlock()
	s.free()
	return true
}

// close closes the sleeper. It does not wait for a call that sleeps: that call frees the timer.
func (s *sleeper) close() {
	s.closed.Store(true)
	s.free()
}

// free frees the timer if the sleeper is closed, unless a call sleeps: that call frees it later.
func (s *sleeper) free() {
	if s.closed.Load() && s.mu.TryLock() {
		s.timer.close()
		s.mu.Unlock()
	}
}
