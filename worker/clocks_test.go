package worker_test

import (
	"testing"
	"time"
)

// The clock goes back by anything: no error, and the worker ID is kept.
func TestClockGoesBack(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		for _, back := range []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour} {
			w.ahead.Add(-int64(back))
			for range 600 {
				w.mustDraw(gen)
				time.Sleep(200 * time.Millisecond)
			}
		}
		if st := lease.Stats(); st.Failures+st.Losses > 0 || st.Claims != 1 {
			t.Errorf("%+v", st)
		}
	})
}
