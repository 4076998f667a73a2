package core

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// TrustCounter makes a generator trust a processor's counter without a comparison.
func TrustCounter(g *Generator) {
	c := &g.clock.counter
	c.mu.Lock()
	c.machine, c.readable, c.rate, c.next = new(steady), true, 1, math.MaxInt64
	c.trusted.Store(true)
	c.off.Store(false)
	c.mu.Unlock()
}

// Lie makes the counter seem to have advanced by elapsed counts of length since the clock was
// read: so it may jump, stop, run backwards, end the tick at once, or never.
func Lie(g *Generator, elapsed, length uint64) {
	k := &g.current.Load().known
	k.start.Store(platform{}.readCounter() - elapsed)
	k.length.Store(length)
}

// Mislead lies to a generator, which trusts the counter, until stop is called.
func Mislead(g *Generator) (stop func()) {
	TrustCounter(g)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			default:
				elapsed := rand.Uint64() >> rand.IntN(64)
				if rand.IntN(2) == 0 {
					elapsed = -elapsed
				}
				Lie(g, elapsed, rand.Uint64()>>rand.IntN(64))
				time.Sleep(time.Duration(rand.IntN(20)) * time.Microsecond)
			}
		}
	}()
	return func() { close(ended); <-done }
}

// steady is a counter that never runs backwards.
type steady struct{ count atomic.Uint64 }

func (s *steady) readCounter() uint64  { return s.count.Add(1) }
func (s *steady) counterIsClock() bool { return true }
