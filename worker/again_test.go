package worker_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// makers are the ways to a lease.
func makers(w *world) map[string]func() (*worker.Lease, error) {
	maker := func(space string, id *int64, noExpiry bool) func() (*worker.Lease, error) {
		cfg := w.cfg
		cfg.Preferred, cfg.RequirePreferred, cfg.NoExpiry, cfg.Namespace = id, true, noExpiry, space
		return func() (*worker.Lease, error) { return w.keep(worker.Acquire(w.Context(), w.store, cfg)) }
	}
	return map[string]func() (*worker.Lease, error){
		"Acquire":  maker("Acquire", ref(int64(2)), false),
		"NoExpiry": maker("NoExpiry", ref(int64(2)), true),
		"FromEnv": func() (*worker.Lease, error) {
			if err := os.Setenv("SNOWKEY_TEST_AGAIN", "2"); err != nil {
				return nil, err
			}
			defer os.Unsetenv("SNOWKEY_TEST_AGAIN")
			n, err := worker.FromEnv(testLayout, "SNOWKEY_TEST_AGAIN", "")
			if err != nil {
				return nil, err
			}
			return maker("FromEnv", &n, false)()
		},
	}
}

// One generator after the other draws under one worker ID of one claim, each from where
// the one before ended. While there is one, a second is refused.
func TestOneGeneratorAfterTheOther(t *testing.T) {
	inWorld(t, func(w *world) {
		for name, make := range makers(w) {
			lease, err := make()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			seen := map[int64]bool{}
			var last core.Parts
			for round := range 20 {
				gen, err := core.New(core.Config{Worker: lease, Now: w.now, ClockPolicy: core.Logical{Detached: true}})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if _, err := core.New(core.Config{Worker: lease, Now: w.now}); !errors.Is(err, core.ErrInUse) {
					t.Fatalf("%s: a second generator: %v", name, err)
				}
				for i := range 1 + round%4*9 {
					id, err := gen.Next(w.Context())
					if err != nil || seen[id] {
						t.Fatalf("%s: %d, %v, seen before: %v", name, id, err, seen[id])
					}
					seen[id] = true
					p, _ := testLayout.Decode(id)
					if i == 0 && round > 0 && p.Time.Sub(last.Time) != time.Millisecond {
						t.Errorf("%s: begins at %v, the last id was of %v", name, p.Time, last.Time)
					}
					last = p
				}
				gen.Close()
				time.Sleep(time.Duration(round) * time.Second)
			}
			if st := lease.Stats(); st.Claims != 1 || st.FencingToken != 1 || st.Worker != 2 || st.Losses+st.Failures > 0 {
				t.Errorf("%s: %+v", name, st)
			}
			if err := lease.Close(); err != nil {
				t.Error(err)
			}
			records, err := w.mem.List(w.Context(), name)
			if err != nil || len(records) != 1 || records[0].Fence != last.Time.UnixMilli()+1 || records[0].ClaimID != "" {
				t.Errorf("%s: the last id is of %v, and %+v, %v", name, last.Time, records, err)
			}
			if _, err := core.New(core.Config{Worker: lease, Now: w.now}); !errors.Is(err, worker.ErrReleased) {
				t.Errorf("%s: after Release: %v", name, err)
			}
		}
	})
}

// After core.New has failed, the lease serves the next generator.
func TestANewThatFails(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		began := time.Now()
		for name, cfg := range map[string]core.Config{
			"layout":      {Layout: core.Twitter()},
			"NotBefore":   {NotBefore: testLayout.End()},
			"clock":       {Now: testLayout.End},
			"epoch":       {Now: func() time.Time { return time.Unix(0, 0) }},
			"ClockPolicy": {ClockPolicy: core.Rollback{}},
			"MaxWait":     {MaxWait: -1},
			"Sequence":    {Sequence: 99},
		} {
			cfg.Worker = lease
			if _, err := core.New(cfg); err == nil || errors.Is(err, core.ErrInUse) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// A generator that can issue nothing, and one whose clock is beyond the fence.
		for name, cfg := range map[string]core.Config{
			"NotBefore": {NotBefore: began.Add(1000 * time.Hour)},
			"clock":     {Now: func() time.Time { return began.Add(50 * time.Second) }},
		} {
			cfg.Worker = lease
			gen, err := core.New(cfg)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if id, err := gen.Next(w.Context()); err == nil {
				t.Errorf("%s: id %d", name, id)
			}
			gen.Close()
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = core.New(core.Config{Worker: lease, Now: func() time.Time { panic("no clock") }})
			t.Error("no panic")
		}()
		done, cancel := context.WithCancel(w.Context())
		cancel()
		for range 30 {
			if gr, err := lease.Grant(done, nil); !errors.Is(err, context.Canceled) || gr != nil {
				t.Fatalf("a done context: %v", err)
			}
		}
		if p := w.mustDraw(w.generator(lease, nil)); time.Until(p.Time) > time.Second {
			t.Errorf("%v ahead", time.Until(p.Time))
		}
		if st := lease.Stats(); st.Losses > 0 {
			t.Errorf("%+v", st)
		}
		if err := lease.Close(); err != nil {
			t.Fatal(err)
		}
		records, err := w.mem.List(w.Context(), "default")
		if err != nil || len(records) == 0 {
			t.Fatalf("%+v, %v", records, err)
		}
		for _, record := range records {
			if record.Fence > time.Now().Add(2*time.Second).UnixMilli() {
				t.Errorf("worker ID %d was released from %v on, it is %v", record.Worker, time.UnixMilli(record.Fence), time.Now())
			}
		}
	})
}

// A renewal that is acknowledged after a generator was made anew raises that one's
// fence, and not its predecessor's.
func TestRenewalWhileAGeneratorIsMadeAnew(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		w.mustDraw(gen)
		w.store.set(func(f *flaky) { f.slow = 2 * time.Second })
		for tried := len(w.store.tries()); len(w.store.tries()) == tried; time.Sleep(100 * time.Millisecond) {
			w.mustDraw(gen)
		}
		gen.Close() // 9s or 10s after the last one
		gen = w.generator(lease, nil)
		w.mustDraw(gen)
		time.Sleep(2 * time.Second) // it is acknowledged
		w.store.set(func(f *flaky) { f.down = errNetwork })
		for range 25 { // that the one before had left less than 19s
			time.Sleep(time.Second)
			w.mustDraw(gen)
		}
		if st := lease.Stats(); st.Claims != 1 || st.Renewals != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// The worker ID is lost, or the clock jumps, while there is no generator.
func TestNoGenerator(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		first := w.mustDraw(gen)
		gen.Close()
		w.steal(first.Worker)
		began := time.Now()
		for time.Since(began) < 15*time.Second { // until it has noticed, it is the same worker ID below its fence
			gen = w.generator(lease, nil)
			w.mustDraw(gen)
			gen.Close()
			time.Sleep(100 * time.Millisecond)
		}
		if w.last.Worker == first.Worker || lease.Stats().Losses != 1 {
			t.Errorf("%+v, %+v", w.last, lease.Stats())
		}
		w.ahead.Add(int64(time.Hour))
		w.storeAhead.Add(int64(time.Hour))
		began = time.Now()
		w.mustDraw(w.generator(lease, nil))
		if d := time.Since(began); d > 0 {
			t.Errorf("after a jump the first id took %v", d)
		}
		if st := lease.Stats(); st.Claims != 3 || st.Losses != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// The worker ID is lost and no other is free: ids continue up to the fence, also those of a
// new generator.
func TestANewGeneratorOfALostNumber(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		for range 3 {
			w.acquire(nil)
		}
		gen := w.generator(lease, nil)
		first := w.mustDraw(gen)
		thief := w.steal(first.Worker)
		began := time.Now()
		var err error
		for ; err == nil; time.Sleep(100 * time.Millisecond) {
			gen.Close()
			gen = w.generator(lease, nil)
			_, err = w.draw(gen)
		}
		if !errors.Is(err, core.ErrFenced) || !errors.Is(err, worker.ErrNoWorkerID) {
			t.Errorf("%v", err)
		}
		if d := time.Since(began); d < 29*time.Second || !w.last.Time.Before(time.UnixMilli(thief.From)) {
			t.Errorf("after %v, at %v; the thief begins at %v", d, w.last.Time, time.UnixMilli(thief.From))
		}
	})
}

// A new generator can be made while the store does not answer.
func TestANewGeneratorDuringAnOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		w.store.set(func(f *flaky) { f.down = errNetwork })
		for range 15 {
			w.mustDraw(gen)
			gen.Close()
			gen = w.generator(lease, nil)
			time.Sleep(time.Second)
		}
		w.mustDraw(gen)
	})
}
