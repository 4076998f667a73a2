package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
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

// All other worker IDs begin ahead of the clock: Rotate is an error until the clock
// has caught up, and the worker ID is kept.
func TestRotateInVain(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, core.Rotate{})
		var others []*worker.Lease
		for range 3 {
			others = append(others, w.acquire(nil))
		}
		for _, other := range others {
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
		}
		first := w.mustDraw(gen)
		w.ahead.Add(-int64(9 * time.Second))
		for range 5 {
			var clock *core.ClockError
			if _, err := w.draw(gen); !errors.As(err, &clock) || !errors.Is(err, worker.ErrNoWorkerID) {
				t.Errorf("%v", err)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Second)
		if p := w.mustDraw(gen); p.Worker != first.Worker {
			t.Errorf("%+v after %+v", p, first)
		}
		if st := lease.Stats(); st.Claims != 1 || st.Losses != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// A jump of less than a minute is followed at once, also in a namespace of one worker ID.
func TestClockLeapsALittle(t *testing.T) {
	inWorld(t, func(w *world) {
		layout := testLayout
		layout.WorkerBits = 0
		lease := w.acquire(func(cfg *worker.Config) { cfg.Layout = layout })
		gen := w.generator(lease, nil)
		for range 20 {
			w.ahead.Add(int64(45 * time.Second))
			for range 20 {
				if _, err := gen.Next(w.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
		if st := lease.Stats(); st.Claims != 1 {
			t.Errorf("%+v", st)
		}
	})
}
