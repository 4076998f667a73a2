package worker_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// However far the clock goes back, there is no error, and the generator keeps its worker ID.
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

// Ids follow a clock that leaps only up to the fence, and a clock that steps back tells no certain
// time. So neither changes what the lease reports about an outage. An observer may ask, too.
func TestOutageUnderAWrongClock(t *testing.T) {
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				var opened atomic.Pointer[worker.Generator]
				w.cfg.Observer = observers{&w.seen, observerFunc(func(core.Event) { opened.Load().Stats() })}
				gen, err := worker.Open(w.Context(), w.store, w.cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer gen.Close(w.Context())
				opened.Store(gen)
				time.Sleep(time.Minute)
				w.ahead.Store(int64(off))
				time.Sleep(15 * time.Second)
				w.store.set(func(f *flaky) { f.down = errNetwork })
				for down := time.Now(); time.Since(down) < time.Minute; time.Sleep(500 * time.Millisecond) {
					_, err := gen.Next(w.Context())
					if st := gen.Stats(); st.FenceLeft > 31*time.Second || st.FenceLeft > time.Second && err != nil || st.FenceLeft == 0 && err == nil && off >= 0 {
						t.Errorf("after %v, %v are left, and an id: %v", time.Since(down), st.FenceLeft, err)
					}
				}
				if n := w.seen.count(worker.Fenced); n != 1 {
					t.Errorf("fenced %d times", n)
				}
			})
		})
	}
}
