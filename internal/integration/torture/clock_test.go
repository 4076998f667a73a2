//go:build unix

package torture

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// The lease's times: short, so that many numbers change hands.
const (
	window = 1500 * time.Millisecond
	renew  = 500 * time.Millisecond
	ttl    = 2 * time.Second
)

// maxOff is how far a process's clock lies from the machine's, but for short leaps.
// It is less than the skew at which a claim is refused, 10s.
const maxOff = 8 * time.Second

// A clock is a process's wall clock: it starts wrong and steps to and fro, by up to
// seconds, all the time.
type clock struct {
	off  atomic.Int64
	rand *random
}

func newClock(r *random) *clock {
	c := &clock{rand: r}
	c.off.Store(int64(r.duration(-2*time.Second, 2*time.Second)))
	go c.run()
	return c
}

// now has no monotonic reading: of that no process knows more than its own.
func (c *clock) now() time.Time { return time.Now().Round(0).Add(time.Duration(c.off.Load())) }

func (c *clock) run() {
	for {
		time.Sleep(c.rand.duration(50*time.Millisecond, 350*time.Millisecond))
		off := c.off.Load()
		switch c.rand.below(20) {
		case 0: // a leap that is too large to be followed, and is taken back
			c.off.Store(off + int64(90*time.Second))
			time.Sleep(100 * time.Millisecond)
		case 1, 2, 3:
			off += int64(c.rand.duration(-4*time.Second, 4*time.Second))
		case 4, 5, 6, 7, 8:
			off += int64(c.rand.duration(-500*time.Millisecond, 500*time.Millisecond))
		default:
			off += int64(c.rand.duration(-5*time.Millisecond, 5*time.Millisecond))
		}
		c.off.Store(min(max(off, -int64(maxOff)), int64(maxOff)))
	}
}

// random is a seeded source for several goroutines.
type random struct {
	mu    sync.Mutex
	words *rand.Rand
}

func newRandom(seed, stream uint64) *random {
	return &random{words: rand.New(rand.NewPCG(seed, stream))}
}

// below gives a number in [0, n).
func (r *random) below(n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.words.Int64N(n)
}

// between gives a number in [least, most].
func (r *random) between(least, most int64) int64 { return least + r.below(most-least+1) }

// oneIn is true once in so many times.
func (r *random) oneIn(n int64) bool { return r.below(n) == 0 }

// duration gives one from least to most.
func (r *random) duration(least, most time.Duration) time.Duration {
	return time.Duration(r.between(int64(least), int64(most)))
}
