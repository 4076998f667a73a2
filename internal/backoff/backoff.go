// Package backoff computes the delays between attempts: exponential, up to a maximum,
// and random in their upper half, so that clients that failed together do not retry
// together.
//
//	pause := backoff.Backoff{Min: time.Millisecond, Max: 10 * time.Millisecond}
//	err := pause.Wait(ctx, failures)
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff computes delays. The zero value is ready for use. It keeps no state, so any
// number of goroutines may share one.
type Backoff struct {
	Min  time.Duration  // the longest delay after the first failure; zero: 50ms
	Max  time.Duration  // the longest delay of all; zero: 500ms
	Rand func() float64 // in [0, 1); nil: that of math/rand/v2
}

// Delay is how long to wait after a number of failures in a row: between d/2 and d,
// where d is Min<<(failures-1), but at most Max. After no failure it is 0.
func (b Backoff) Delay(failures int) time.Duration {
	if failures < 1 {
		return 0
	}
	if b.Min <= 0 {
		b.Min = 50 * time.Millisecond
	}
	if b.Max <= 0 {
		b.Max = 500 * time.Millisecond
	}
	if b.Rand == nil {
		b.Rand = rand.Float64
	}
	d := min(b.Min, b.Max)
	for ; failures > 1 && d < b.Max; failures-- {
		d += min(d, b.Max-d) // doubled, without an overflow
	}
	return d - d/2 + time.Duration(float64(d/2)*b.Rand())
}

// Wait waits for Delay(failures). Its error is ctx's, if that ends first.
func (b Backoff) Wait(ctx context.Context, failures int) error {
	select {
	case <-time.After(b.Delay(failures)):
	case <-ctx.Done():
	}
	return ctx.Err()
}
