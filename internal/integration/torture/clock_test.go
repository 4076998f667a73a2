//go:build unix

package torture

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// The lease's times: short, so that many worker IDs change hands.
const (
	window = 1500 * time.Millisecond
	skew   = 750 * time.Millisecond
	renew  = 500 * time.Millisecond
	free   = window + skew // after the last renewal
)

// maxOff is the largest offset of a process's clock from the machine's, apart from leaps that are
// taken back. It is less than the skew at which a claim is refused.
const maxOff = 600 * time.Millisecond

// A clock is a process's wall clock: it starts wrong, and steps back and forth all the time, for a
// while by seconds or more than a minute.
type clock struct {
	off  atomic.Int64
	rand *random
}

func newClock(r *random) *clock {
	c := &clock{rand: r}
	c.off.Store(int64(r.duration(-maxOff, maxOff)))
	go c.run()
	return c
}

// now has no monotonic reading, which means nothing to other processes.
func (c *clock) now() time.Time { return time.Now().Round(0).Add(time.Duration(c.off.Load())) }

func (c *clock) run() {
	for {
		time.Sleep(c.rand.duration(50*time.Millisecond, 350*time.Millisecond))
		off := c.off.Load()
		switch c.rand.below(20) {
		case 0: // a leap that is too large to be followed, and is taken back
			c.off.Store(off + int64(90*time.Second))
			time.Sleep(100 * time.Millisecond)
		case 1: // one that is followed, and at which nothing is claimed
			c.off.Store(int64(c.rand.duration(-8*time.Second, 8*time.Second)))
			time.Sleep(c.rand.duration(0, 2*renew))
		case 2, 3, 4, 5, 6, 7, 8:
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

// below returns a number in [0, n).
func (r *random) below(n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.words.Int64N(n)
}

// between returns a number in [least, most].
func (r *random) between(least, most int64) int64 { return least + r.below(most-least+1) }

// oneIn returns true once in n calls on average.
func (r *random) oneIn(n int64) bool { return r.below(n) == 0 }

// duration returns one from least to most.
func (r *random) duration(least, most time.Duration) time.Duration {
	return time.Duration(r.between(int64(least), int64(most)))
}
