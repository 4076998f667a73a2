package worker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// between is a lease that changes an answer before its running generator gets it.
type between struct {
	core.GrantSource
	do func(*core.Grant) error
}

func (b *between) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	gr, err := b.GrantSource.Grant(ctx, prev)
	if prev == nil || err != nil {
		return gr, err
	}
	if err := b.do(gr); err != nil {
		return nil, err
	}
	return gr, nil
}

// A replaced worker ID is released, right after its last id, as soon as the generator no longer uses it,
// and not earlier, however late the generator learns of the next one.
func TestReleasedWhenTheGeneratorHasLeft(t *testing.T) {
	for _, late := range []time.Duration{0, 25 * time.Second} {
		t.Run(late.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				lease := w.acquire(nil)
				slow := &between{lease, func(*core.Grant) error { time.Sleep(late); return nil }}
				gen := w.newGenerator(core.Config{Worker: slow, Now: w.now, ClockPolicy: core.Rotate{}, MaxWait: time.Minute})
				last := w.mustDraw(gen)
				w.ahead.Add(-int64(time.Second))
				next := make(chan core.Parts)
				go func() { next <- w.mustDraw(gen) }()
				if late > 0 {
					time.Sleep(late - time.Second)
					if record := w.record(last.Worker); record.Status != driver.Held {
						t.Errorf("released under its generator: %+v", record)
					}
				}
				if p := <-next; p.Worker == last.Worker {
					t.Fatalf("%+v: the test shows nothing", p)
				}
				left := time.Now()
				synctest.Wait()
				if record := w.record(last.Worker); record.Status != driver.Released || record.Fence != last.Time.UnixMilli()+1 || !time.Now().Equal(left) {
					t.Errorf("the last id is of %v, and %v later it is %+v", last.Time, time.Since(left), record)
				}
				w.mustDraw(gen)
			})
		})
	}
}

var errOnTheWay = errors.New("lost on the way")

// refusing closes the first grants after a lease's first one, before its generator gets them, and counts all.
func refusing(lease core.GrantSource, refused *int, most int) *between {
	return &between{lease, func(gr *core.Grant) error {
		if *refused++; *refused > most {
			return nil
		}
		gr.Close()
		return errOnTheWay
	}}
}

// A generator that cannot use its new worker ID continues under the one before up to its fence, and
// then under the new one. Each is released in its turn.
func TestTheOtherWorkerIDIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		lease, refused := w.acquire(nil), 0
		wrap := refusing(lease, &refused, 3)
		gen := w.newGenerator(core.Config{Worker: wrap, Now: w.now, ClockPolicy: core.Rotate{}})
		first := w.mustDraw(gen)
		w.ahead.Add(-int64(time.Second))
		for refused < 3 {
			if p, err := w.draw(gen); !errors.Is(err, errOnTheWay) && !errors.As(err, new(*worker.RetryError)) {
				t.Fatalf("%+v, %v", p, err)
			}
			time.Sleep(20 * time.Millisecond) // the lease asks again after a delay
		}
		w.ahead.Store(0)
		for range 300 {
			time.Sleep(time.Second)
			w.mustDraw(gen)
		}
		if held, st := w.held(), lease.Stats(); held != 1 || refused != 4 || st.Losses > 0 || w.last.Worker == first.Worker || w.record(st.Worker).Status != driver.Held {
			t.Errorf("%d are held, %d were refused: %+v", held, refused, st)
		}
	})
}

// If it has lost the previous one, it gets the rest of the new one's time.
func TestTheOnlyWorkerIDIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		lease, refused := w.acquire(nil), 0
		wrap := refusing(lease, &refused, 2)
		gen := w.newGenerator(core.Config{Worker: wrap, Now: w.now})
		first := w.mustDraw(gen)
		w.steal(first.Worker)
		for began := time.Now(); time.Since(began) < 5*time.Minute; time.Sleep(100 * time.Millisecond) {
			if _, err := w.draw(gen); err != nil && !errors.Is(err, errOnTheWay) {
				t.Fatal(err)
			}
		}
		if st := lease.Stats(); refused != 3 || st.Claims != 2 || w.last.Worker == first.Worker || w.held() != 1 {
			t.Errorf("%d were refused: %+v, %+v", refused, w.last, st)
		}
	})
}

// If a generator refuses its only worker ID once, and then draws faster than the layout allows, the fence rises as soon
// as ids reach it.
func TestRefusedAndThenSaturated(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.FenceWindow = 6 * time.Second
		lease, refused := w.acquire(nil), 0
		wrap := refusing(lease, &refused, 1)
		gen := w.newGenerator(core.Config{Worker: wrap, Now: w.now, ClockPolicy: core.Logical{Detached: true}})
		w.steal(lease.Worker())
		for old := lease.Worker(); lease.Worker() == old; time.Sleep(time.Second) {
		}
		if _, err := gen.Next(w.Context()); !errors.Is(err, errOnTheWay) {
			t.Fatal(err)
		}
		ids := make([]int64, 16*250) // of a quarter of a second
		for began := time.Now(); time.Since(began) < 10*time.Second; {
			if err := gen.Fill(w.Context(), ids); err != nil {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
		}
	})
}

// A generator that is closed while it waits for another worker ID leaves none leased, at any point.
func TestCloseWhileAnotherWorkerIDIsClaimed(t *testing.T) {
	for name, slow := range map[string]time.Duration{"at once": 0, "the store answers late": 2 * time.Second, "the store does not answer": time.Hour} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.cfg.ClockPolicy, w.cfg.MaxWait = core.Rotate{}, time.Hour
				gen, err := worker.Open(w.Context(), w.store, w.cfg)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := gen.Next(w.Context()); err != nil {
					t.Fatal(err)
				}
				w.store.set(func(f *flaky) { f.slow = slow })
				w.ahead.Add(-int64(time.Second))
				ended := make(chan error, 1)
				go func() { _, err := gen.Next(context.Background()); ended <- err }()
				if slow > 0 {
					synctest.Wait()
				}
				go func() { time.Sleep(time.Second); w.store.set(func(f *flaky) { f.slow = 0 }) }()
				if err := gen.Close(w.Context()); err != nil {
					t.Error(err)
				}
				if err := <-ended; slow > 0 && !errors.Is(err, core.ErrClosed) {
					t.Errorf("the call of the closed generator: %v", err)
				}
				time.Sleep(time.Minute)
				if held := w.held(); held != 0 {
					t.Errorf("%d worker IDs are held", held)
				}
			})
		})
	}
}

// The wall clock jumps while Open waits for the store. If the store's clock has jumped too, ids begin
// at the new time. Otherwise Open fails, since ids would begin at a time that does not come.
func TestClockLeapsDuringOpen(t *testing.T) {
	for name, asleep := range map[string]bool{"the machine slept": true, "the clock is wrong": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.store.after = func(_ driver.Claim, c driver.Lease, err error) (driver.Lease, error) {
					w.store.set(func(f *flaky) { f.after = nil })
					w.ahead.Store(int64(time.Hour))
					if asleep {
						w.storeAhead.Store(int64(time.Hour))
					}
					return c, err
				}
				gen, err := worker.Open(w.Context(), w.store, w.cfg)
				if !asleep {
					if synctest.Wait(); !errors.As(err, new(*worker.SkewError)) || w.held() != 0 {
						t.Errorf("%v, %d worker IDs are held", err, w.held())
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer gen.Close(w.Context())
				id, err := gen.Next(w.Context())
				if p, _ := testLayout.Decode(id); err != nil || w.now().Sub(p.Time).Abs() > time.Second {
					t.Errorf("%v, %v: it is %v", p.Time, err, w.now())
				}
			})
		})
	}
}
