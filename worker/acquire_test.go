package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// One error reports every wrong field of a configuration.
func TestConfigFaults(t *testing.T) {
	store := memstore.New(memstore.Config{})
	for name, c := range map[string]struct {
		cfg  worker.Config
		want []string
	}{
		"space":     {worker.Config{Namespace: "a b"}, []string{`Namespace "a b": must be 1 to 64 letters`}},
		"layout":    {worker.Config{Layout: core.Layout{Tick: 1}}, []string{"Layout.Tick 1ns: must be a whole number"}},
		"durations": {worker.Config{FenceWindow: -1, RenewInterval: time.Microsecond, Timeout: 1e5 * time.Hour}, []string{"Window -1ns: must be whole milliseconds", "RenewInterval 1µs: must be", "Timeout"}},
		"window":    {worker.Config{FenceWindow: time.Second, Layout: core.Seconds()}, []string{"Window 1s: must be at least two ticks of the layout, 2s"}},
		"long tick": {worker.Config{Layout: core.Layout{Tick: 200 * 365 * 24 * time.Hour, TimeBits: 10}}, []string{"FenceWindow"}}, // two are no Duration
		"renew":     {worker.Config{FenceWindow: time.Second, RenewInterval: time.Second}, []string{"RenewInterval 1s: must be at least 1ms and less than FenceWindow, 1s"}},
		"preferred": {worker.Config{Preferred: ref(int64(1024)), Owner: strings.Repeat("x", 256)}, []string{"Owner \"xxx", "must be at most 255 printable ASCII", "Preferred 1024: must be 0 to 1023"}},
		"negative":  {worker.Config{Preferred: ref(int64(-2))}, []string{"Preferred -2"}},
		"only":      {worker.Config{RequirePreferred: true}, []string{"RequirePreferred true: needs Preferred"}},
		"skew":      {worker.Config{MaxSkew: -1, Timeout: -1}, []string{"MaxSkew -1ns", "Timeout -1ns"}},
		"half":      {worker.Config{MaxSkew: 15001 * time.Millisecond}, []string{"MaxSkew 15.001s: must be at most half of FenceWindow, 30s"}},
		// With Datacenter, too, Preferred is a worker ID of the layout.
		"datacenter": {worker.Config{Datacenter: ref(int64(32))}, []string{"Datacenter 32: must be 0 to 31"}},
		"below":      {worker.Config{Datacenter: ref(int64(-1))}, []string{"Datacenter -1: must be 0 to 31"}},
		"another":    {worker.Config{Datacenter: ref(int64(2)), Preferred: ref(int64(7))}, []string{"Preferred 7: must be 64 to 95"}},
		"the next":   {worker.Config{Datacenter: ref(int64(0)), Preferred: ref(int64(32))}, []string{"Preferred 32: must be 0 to 31"}},
		"none":       {worker.Config{Layout: core.Sonyflake(), Datacenter: ref(int64(1))}, []string{"Datacenter 1: must be nil: the layout has no"}},
	} {
		t.Run(name, func(t *testing.T) {
			lease, err := worker.Acquire(t.Context(), store, c.cfg)
			var config *core.ConfigError
			if !errors.As(err, &config) || lease != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q lacks %q", name, err, want)
				}
			}
		})
	}
	if _, err := worker.Acquire(t.Context(), nil, worker.Config{}); err == nil || !strings.Contains(err.Error(), "Store nil: must be given") {
		t.Errorf("%v", err)
	}
	if st, _ := store.List(t.Context(), "default"); !st.Missing {
		t.Errorf("%+v", st)
	}
}

func TestDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		cfg          worker.Config
		window, skew time.Duration // the skew of the namespace
	}{
		"zero":        {worker.Config{}, 30 * time.Second, 10 * time.Second},
		"FenceWindow": {worker.Config{FenceWindow: 90 * time.Second}, 90 * time.Second, 30 * time.Second},
		"a long tick": {worker.Config{Layout: core.Layout{Tick: time.Minute, TimeBits: 40}}, 3 * time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if c.cfg.Layout.Epoch = testLayout.Epoch; c.cfg.Layout.TimeBits == 0 {
					c.cfg.Layout.TimeBits, c.cfg.Layout.SequenceBits = 41, 4
				}
				w.acquireFrom(w.store, c.cfg)
				r := w.store.claims[0]
				if r.FenceWindow != c.window.Milliseconds() || r.Preferred != -1 || r.Exclude != -1 || r.MaxSkew != c.skew.Milliseconds() || r.Owner == "" || len(r.ClaimID) < 20 {
					t.Errorf("%+v", r)
				}
				if ns := w.list().Namespace; ns.FenceWindow != r.FenceWindow || ns.MaxSkew != c.skew.Milliseconds() {
					t.Errorf("%+v", ns)
				}
			})
		})
	}
}

// A repeated claim has the same claim ID, so one whose answer was lost is found.
func TestLostAnswers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.store.lose = 3
		lease := w.acquire(nil)
		records := w.list().Records
		if len(w.store.claims) != 4 || len(records) != 1 || records[0].ClaimID != w.store.claims[0].ClaimID {
			t.Errorf("%d claims, %+v", len(w.store.claims), records)
		}
		for _, r := range w.store.claims {
			if r.ClaimID != w.store.claims[0].ClaimID {
				t.Error("a repeated claim has another claim ID")
			}
		}
		w.mustDraw(w.generator(lease, nil))
	})
}

func TestAcquireWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		var held []*worker.Lease
		for range 4 {
			held = append(held, w.acquire(nil))
		}
		began := time.Now()
		_, err := w.keep(worker.Acquire(w.Context(), w.store, w.cfg))
		var none *worker.NoWorkerIDError
		if !errors.As(err, &none) || none.Leased != 4 || none.WorkerIDs != 4 || time.Since(began) < 4*time.Second || time.Since(began) > 5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		time.AfterFunc(2*time.Second, func() { _ = held[2].Release(context.Background()) })
		began = time.Now()
		if lease := w.acquire(nil); lease.Worker() != 2 || time.Since(began) > 2500*time.Millisecond {
			t.Errorf("worker ID %d after %v", lease.Worker(), time.Since(began))
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if _, err := worker.Acquire(ctx, w.store, w.cfg); !errors.As(err, &none) || none.Leased != 4 || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		w.cfg.ClaimWait = -1
		began = time.Now()
		if _, err := w.keep(worker.Acquire(w.Context(), w.store, w.cfg)); !errors.Is(err, worker.ErrNoWorkerID) || time.Since(began) > 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func TestAcquireRefuses(t *testing.T) {
	inWorld(t, func(w *world) {
		w.acquire(nil)
		refused := func(name string, want any, change func(*worker.Config)) {
			t.Helper()
			cfg := w.cfg
			if change != nil {
				change(&cfg)
			}
			began := time.Now()
			_, err := w.keep(worker.Acquire(w.Context(), w.store, cfg))
			if err == nil || !errors.As(err, want) || time.Since(began) > 0 {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		}
		var layout *worker.LayoutError
		refused("another layout", &layout, func(cfg *worker.Config) { cfg.Layout.SequenceBits++ })
		var skew *worker.SkewError
		for _, off := range []time.Duration{11 * time.Second, -11 * time.Second} {
			w.ahead.Store(int64(off))
			refused("the clock", &skew, nil)
			if skew != nil && (skew.Local.Sub(skew.Store) != off || skew.Max != 10*time.Second) {
				t.Errorf("%v", skew)
			}
		}
		w.ahead.Store(int64(0))
		var window *worker.WindowError
		refused("a smaller window", &window, func(cfg *worker.Config) { cfg.FenceWindow = 10 * time.Second })
		refused("a larger window", &window, func(cfg *worker.Config) { cfg.FenceWindow = time.Minute })
		if want := `namespace "default" has FenceWindow 30s, not 1m0s: configure that, or run snowkey workers window 1m0s to change it for all generators`; window != nil && !strings.Contains(window.Error(), want) {
			t.Errorf("%v", window)
		}
		refused("another skew", &window, func(cfg *worker.Config) { cfg.MaxSkew = time.Second })
		if want := `namespace "default" has MaxSkew 10s, not 1s: configure that`; window != nil && !strings.Contains(window.Error(), want) {
			t.Errorf("%v", window)
		}
		w.acquire(func(cfg *worker.Config) { cfg.FenceWindow, cfg.MaxSkew = 30*time.Second, 10*time.Second })
		var config *core.ConfigError
		refused("an epoch in the future", &config, func(cfg *worker.Config) { cfg.Layout = core.Twitter() })
		w.cfg.Layout.TimeBits = 38
		if _, err := w.keep(worker.Acquire(w.Context(), w.store, w.cfg)); !errors.Is(err, core.ErrTimestampExhausted) {
			t.Errorf("a layout that has run out: %v", err)
		}
	})
}

// A slow answer is no proof of a slow clock.
func TestSlowAnswers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.store.slow = 12 * time.Second
		w.cfg.Timeout, w.cfg.ClaimWait = 15*time.Second, time.Minute
		time.AfterFunc(14*time.Second, func() { w.store.set(func(f *flaky) { f.slow = 0 }) })
		w.acquireFrom(w.store, w.cfg)
	})
}
