package backoff

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func random(f float64) func() float64 { return func() float64 { return f } }

func TestDelay(t *testing.T) {
	const almostOne = 1 - 1.0/(1<<53)
	for _, c := range []struct {
		name        string
		b           Backoff
		failures    int
		least, most time.Duration
	}{
		{"no failure", Backoff{}, 0, 0, 0},
		{"a negative count", Backoff{}, -1, 0, 0},
		{"first", Backoff{}, 1, 25 * time.Millisecond, 50 * time.Millisecond},
		{"second", Backoff{}, 2, 50 * time.Millisecond, 100 * time.Millisecond},
		{"fourth", Backoff{}, 4, 200 * time.Millisecond, 400 * time.Millisecond},
		{"capped", Backoff{}, 5, 250 * time.Millisecond, 500 * time.Millisecond},
		{"long after", Backoff{}, math.MaxInt, 250 * time.Millisecond, 500 * time.Millisecond},
		{"negative fields", Backoff{Min: -1, Max: -1}, 1, 25 * time.Millisecond, 50 * time.Millisecond},
		{"own limits", Backoff{Min: time.Millisecond, Max: 10 * time.Millisecond}, 3, 2 * time.Millisecond, 4 * time.Millisecond},
		{"own limits, capped", Backoff{Min: time.Millisecond, Max: 10 * time.Millisecond}, 5, 5 * time.Millisecond, 10 * time.Millisecond},
		{"Min above Max", Backoff{Min: time.Minute, Max: time.Second}, 1, time.Second / 2, time.Second},
		{"the longest", Backoff{Min: math.MaxInt64, Max: math.MaxInt64}, 9, math.MaxInt64 / 2, math.MaxInt64},
		{"odd", Backoff{Min: 1, Max: 1}, 9, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range []float64{0, 0.5, almostOne} {
				c.b.Rand = random(f)
				if d := c.b.Delay(c.failures); d < c.least || d > c.most {
					t.Errorf("with %v: %v, want %v to %v", f, d, c.least, c.most)
				}
			}
			c.b.Rand = random(0)
			if d := c.b.Delay(c.failures); d > c.least+1 {
				t.Errorf("least %v, want %v", d, c.least)
			}
			c.b.Rand = random(almostOne)
			if d := c.b.Delay(c.failures); d < c.most-c.most/1000-1 {
				t.Errorf("most %v, want %v", d, c.most)
			}
		})
	}
}

// Two clients that failed together rarely try again at the same time.
func TestJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		seen[Backoff{}.Delay(9)] = true
	}
	if len(seen) < 50 {
		t.Errorf("100 delays have %d values", len(seen))
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Backoff{Rand: random(0)}
		begin := time.Now()
		if err := b.Wait(t.Context(), 2); err != nil || time.Since(begin) != 50*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begin = time.Now()
		if err := b.Wait(ctx, 9); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := b.Wait(ctx, 0); !errors.Is(err, context.DeadlineExceeded) { // there is nothing to wait for, and still
			t.Errorf("without a delay: %v", err)
		}
	})
}
