package core

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	leapLasts     = int64(10 * time.Second) // how long a large leap must have lasted to be followed
	leapSightings = 3                       // and how often it must have been seen,
	sightingEvery = int64(time.Second)      // these far apart
)

// leap remembers a wall clock that has leapt ahead by too much to be believed
// at once. It is asked at every reading, so that a leap that is gone is
// forgotten. One that is back at the next reading looks as if it had lasted in
// between, if nobody reads the clock often: so it must be seen three times.
type leap struct {
	seen atomic.Bool // whether there is one: the fast path looks no further

	mu        sync.Mutex
	at        int64 // elapsed time at which it was seen first
	to        int64 // where the clock leapt to, as an offset
	sightings int
	next      int64 // elapsed time from which on another sighting counts
}

// lasts notes a sighting, and reports whether the leap has lasted, and whether
// this is the first sighting of it.
func (l *leap) lasts(offset, elapsed, maxJump int64) (lasted, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := offset - l.to; !l.seen.Load() || other > maxJump || other < -maxJump {
		l.at, l.to, l.sightings, l.next = elapsed, offset, 1, elapsed+sightingEvery
		l.seen.Store(true)
		return false, true
	}
	if elapsed >= l.next {
		l.sightings++
		l.next = elapsed + sightingEvery
	}
	return elapsed-l.at >= leapLasts && l.sightings >= leapSightings, false
}

// forget is for a clock that can be believed.
func (l *leap) forget() {
	if l.seen.Load() {
		l.mu.Lock()
		l.seen.Store(false)
		l.mu.Unlock()
	}
}
