package worker_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
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

// Rotate takes another worker ID at a step back, and releases the one before.
func TestRotate(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, core.Rotate{})
		first := w.mustDraw(gen)
		w.ahead.Add(-int64(5 * time.Second))
		second := w.mustDraw(gen)
		if second.Worker == first.Worker || !second.Time.Before(first.Time) || lease.Worker() != second.Worker {
			t.Errorf("%+v, then %+v", first, second)
		}
		time.Sleep(3 * time.Second)
		if record := w.record(first.Worker); !record.Free(0) || record.Fence != first.Time.UnixMilli()+1 {
			t.Errorf("%+v after %+v", record, first)
		}
		w.mustDraw(gen)
		if st := lease.Stats(); st.Claims != 2 || st.Losses != 0 {
			t.Errorf("%+v", st)
		}
		w.store.set(func(f *flaky) {
			if r := f.claims[len(f.claims)-1]; r.Exclude != first.Worker {
				t.Errorf("worker ID %d was exchanged by %+v", first.Worker, r)
			}
		})
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

// A machine wakes up: its wall clock and the store's have advanced, and its monotonic clock
// has not. Another holder may have taken the worker ID.
func TestSleepOfTheMachine(t *testing.T) {
	for _, taken := range []bool{false, true} {
		for _, numbers := range []uint8{0, 2} { // one worker ID in the namespace, or four
			inWorld(t, func(w *world) {
				layout := testLayout
				layout.WorkerBits = numbers
				lease := w.acquire(func(cfg *worker.Config) { cfg.Layout = layout })
				gen := w.generator(lease, nil)
				if _, err := gen.Next(w.Context()); err != nil {
					t.Fatal(err)
				}
				w.ahead.Add(int64(time.Hour))
				w.storeAhead.Add(int64(time.Hour))
				if taken && numbers > 0 {
					w.acquire(func(cfg *worker.Config) { cfg.Preferred = ref(int64(0)) })
				}
				for range 300 {
					time.Sleep(200 * time.Millisecond)
					if _, err := gen.Next(w.Context()); err != nil {
						t.Fatalf("taken %v, %d bits: %v", taken, numbers, err)
					}
				}
				id, _ := gen.Next(w.Context())
				if p, _ := layout.Decode(id); w.now().Sub(p.Time) > time.Second {
					t.Errorf("the ids' time is %v, and it is %v", p.Time, w.now())
				}
			})
		}
	}
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

// Many processes with goroutines of their own, clocks that step, worker IDs that are
// stolen, a store that fails now and then; under the race detector.
func TestManyGoroutines(t *testing.T) {
	inWorld(t, func(w *world) {
		const processes, drawers = 4, 4
		stop := time.Now().Add(20 * time.Second)
		var mu sync.Mutex
		seen := map[int64]int{}
		var wg sync.WaitGroup
		for range processes {
			wg.Go(func() {
				for time.Now().Before(stop) {
					var off sync.Mutex
					offset := time.Duration(0)
					now := func() time.Time {
						off.Lock()
						defer off.Unlock()
						return time.Now().Add(offset)
					}
					store := &flaky{Store: w.mem}
					lease, err := worker.Acquire(w.Context(), store, worker.Config{
						Layout: testLayout, FenceWindow: 300 * time.Millisecond, TTL: 300 * time.Millisecond, Now: now, MaxSkew: time.Hour, MaxLead: time.Hour,
					})
					if errors.Is(err, worker.ErrNoWorkerID) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					gen, err := core.New(core.Config{Worker: lease, Now: now, MaxWait: 20 * time.Millisecond})
					if err != nil {
						t.Error(err)
						_ = lease.Close()
						return
					}
					end := time.Now().Add(time.Duration(rand.IntN(3000)) * time.Millisecond)
					var drawing sync.WaitGroup
					for range drawers {
						drawing.Go(func() {
							for time.Now().Before(end) {
								id, err := gen.Next(context.Background())
								if err == nil {
									mu.Lock()
									seen[id]++
									mu.Unlock()
								}
								time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
							}
						})
					}
					for time.Now().Before(end) {
						time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
						off.Lock()
						offset = time.Duration(rand.IntN(400)-200) * time.Millisecond
						off.Unlock()
						store.set(func(f *flaky) {
							if f.down = nil; rand.IntN(4) == 0 {
								f.down = errNetwork
							}
						})
						if rand.IntN(10) == 0 {
							_ = w.mem.Free(w.Context(), "default", lease.Worker(), lease.Stats().FencingToken)
						}
					}
					if rand.IntN(2) == 0 {
						store.set(func(f *flaky) { f.down = nil })
						_ = lease.Close() // while ids are drawn
					}
					drawing.Wait()
					ctx, cancel := context.WithCancel(context.Background())
					cancel()
					_ = lease.Release(ctx)
				}
			})
		}
		wg.Wait()
		twice := 0
		for _, n := range seen {
			if n > 1 {
				twice++
			}
		}
		if twice > 0 || len(seen) < 10_000 {
			t.Errorf("%d ids, %d of them issued twice", len(seen), twice)
		}
	})
}
