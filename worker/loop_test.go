package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// pool is a store whose requests need one of the connections that the application uses
// as well, as from a shared *sql.DB.
type pool struct {
	connections chan struct{}
	away        atomic.Bool
}

func (p *pool) with(ctx context.Context, use func(context.Context) error) error {
	select {
	case p.connections <- struct{}{}:
		defer func() { <-p.connections }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.away.Load() {
		return errNetwork
	}
	return use(ctx)
}

// Transactions that wait for ids hold every connection, and the renewal needs one: rows
// are written again soon after an outage.
func TestOutageOfASharedPool(t *testing.T) {
	for _, size := range []int{1, 2, 5, 50} {
		t.Run(fmt.Sprint(size, " connections"), func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := &pool{connections: make(chan struct{}, size)}
				lease := w.acquireFrom(via{w.mem, p.with}, w.cfg)
				gen := w.generator(lease, nil)
				var rows atomic.Int64
				stop := make(chan struct{})
				var clients sync.WaitGroup
				for range 400 {
					clients.Go(func() {
						for {
							select {
							case <-stop:
								return
							default:
							}
							_ = p.with(w.Context(), func(context.Context) error { // a transaction
								time.Sleep(2 * time.Millisecond)
								_, err := gen.Next(w.Context())
								if err == nil {
									rows.Add(1)
								}
								return err
							})
							time.Sleep(100 * time.Millisecond)
						}
					})
				}
				time.Sleep(5 * time.Second)
				p.away.Store(true)
				time.Sleep(40 * time.Second)
				p.away.Store(false)
				before := rows.Load()
				began := time.Now()
				for rows.Load() == before && time.Since(began) < 3*time.Minute {
					time.Sleep(10 * time.Millisecond)
				}
				if d := time.Since(began); d > 5*time.Second {
					t.Errorf("with %d connections there were no rows for %v", size, d)
				}
				close(stop)
				clients.Wait()
			})
		})
	}
}

// At the fence, while renewals fail, a call fails at once, and says why and since when.
func TestFencedFailsAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		var log strings.Builder
		lease := w.acquire(func(cfg *worker.Config) {
			cfg.Observer = observers{&w.seen, core.LogTo(slog.New(slog.NewTextHandler(&log, nil)))}
		})
		gen := w.generator(lease, nil)
		w.mustDraw(gen)
		w.store.set(func(f *flaky) { f.down = errNetwork })
		down := time.Now()
		time.Sleep(time.Minute)
		for range 100 {
			asked := time.Now()
			_, err := w.draw(gen)
			var retrying *worker.RetryError
			if !errors.Is(err, core.ErrFenced) || !errors.Is(err, errNetwork) || !errors.As(err, &retrying) || time.Since(asked) > 0 {
				t.Fatalf("%v after %v", err, time.Since(asked))
			}
			if since := retrying.Since.Sub(down); since < 0 || since > 10*time.Second || retrying.Worker != lease.Worker() || retrying.Failures < 10 {
				t.Fatalf("%+v", retrying)
			}
			time.Sleep(time.Second)
		}
		st := lease.Stats()
		if d := st.FencedSince.Sub(down); d < 20*time.Second || d > 31*time.Second || st.Since.Sub(down) > 10*time.Second || !errors.Is(st.Failing, errNetwork) || st.State != "held" {
			t.Errorf("%+v", st)
		}
		w.store.set(func(f *flaky) { f.down = nil })
		time.Sleep(time.Second)
		w.mustDraw(gen)
		w.caughtUp(lease)
		if w.seen.count(worker.Fenced) != 1 || w.seen.count(worker.Resumed) != 1 {
			t.Errorf("%v", w.seen.all())
		}
		for _, want := range []string{`level=WARN msg="snowkey: renew failed"`, `level=ERROR msg="snowkey: fenced" worker=0 namespace=default err="worker: lease of`, `level=INFO msg="snowkey: resumed"`} {
			if strings.Count(log.String(), want) != 1 {
				t.Errorf("the log has not one line %s:\n%s", want, log.String())
			}
		}
	})
}

// With a thousand goroutines at the fence, the store still gets only a few requests a second, and one
// soon after it is back. The same holds after a loss, when another worker ID is claimed.
func TestNoStorm(t *testing.T) {
	for name, stolen := range map[string]bool{"renewals": false, "claims": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var requests atomic.Int64
				w.store.Store = counted(w.mem, &requests, nil)
				lease := w.acquire(nil)
				gen := w.generator(lease, nil)
				first := w.mustDraw(gen)
				if stolen {
					w.steal(first.Worker)
					for range 3 {
						w.acquireFrom(w.mem, w.cfg)
					}
				} else {
					w.store.set(func(f *flaky) { f.Store = counted(w.mem, &requests, errNetwork) })
				}
				time.Sleep(time.Minute)
				n := w.storm(gen, core.ErrFenced, &requests)
				if n > 40 || n < 20 {
					t.Errorf("%d requests in ten seconds", n)
				}
				if stolen {
					w.leave(first.Worker)
				} else {
					w.store.set(func(f *flaky) { f.Store = w.mem })
				}
				time.Sleep(500 * time.Millisecond)
				w.mustDraw(gen)
			})
		})
	}
}

// storm calls Next from a thousand goroutines for ten seconds. Each call must fail, with want if it is not nil. It returns the
// requests meanwhile.
func (w *world) storm(gen *core.Generator, want error, requests *atomic.Int64) int64 {
	stop, before := time.Now().Add(10*time.Second), requests.Load()
	var callers sync.WaitGroup
	for range 1000 {
		callers.Go(func() {
			for ; time.Now().Before(stop); time.Sleep(100 * time.Millisecond) {
				if _, err := gen.Next(w.Context()); err == nil || want != nil && !errors.Is(err, want) {
					w.Errorf("%v", err)
				}
			}
		})
	}
	callers.Wait()
	return requests.Load() - before
}

// counted counts the requests to a store.
func counted(s driver.Store, n *atomic.Int64, down error) driver.Store {
	return via{s, func(ctx context.Context, request func(context.Context) error) error {
		if n.Add(1); down != nil {
			return down
		}
		return request(ctx)
	}}
}

// deaf is a store that does not heed its contexts.
type deaf struct {
	mu    sync.Mutex
	until chan struct{} // it answers when that is closed
	asked int
	most  int
}

func (d *deaf) with(_ context.Context, request func(context.Context) error) error {
	d.mu.Lock()
	d.asked++
	d.most = max(d.most, d.asked)
	until := d.until
	d.mu.Unlock()
	if until != nil {
		<-until
	}
	d.mu.Lock()
	d.asked--
	d.mu.Unlock()
	return request(context.Background())
}

// atOnce returns the highest number of requests that have waited at once.
func (d *deaf) atOnce() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.most
}

func (d *deaf) hang() (answer func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	until := make(chan struct{})
	d.until = until
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.until = nil
		close(until)
	})
}

// A client that does not heed contexts holds up no call beyond its own, and costs a bounded
// number of goroutines. It is reported, and ids continue when the store answers.
func TestDeafStore(t *testing.T) {
	inWorld(t, func(w *world) {
		store := &deaf{}
		w.store.Store = via{w.mem, store.with}
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		w.mustDraw(gen)
		answer := store.hang()
		defer answer()
		within := func(name string, limit time.Duration, call func(ctx context.Context) error) {
			t.Helper()
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			began := time.Now()
			if err := call(ctx); err == nil || time.Since(began) > limit {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		}
		next := func(ctx context.Context) error { _, err := gen.Next(ctx); return err }
		for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(100 * time.Millisecond) {
			w.mustDraw(gen)
		}
		time.Sleep(time.Minute)
		within("Next", 1500*time.Millisecond, next)
		within("Acquire", 1500*time.Millisecond, func(ctx context.Context) error {
			_, err := worker.Acquire(ctx, w.store.Store, w.cfg)
			return err
		})
		time.Sleep(time.Hour)
		within("Next, an hour later", 1500*time.Millisecond, next)
		if most := store.atOnce(); most > 256+6 { // of the lease, and of the one that was to be acquired
			t.Errorf("%d requests at once", most)
		}
		if err := lease.Stats().Failing; err == nil || !strings.Contains(err.Error(), "the client hangs, or ignores contexts") {
			t.Errorf("%v", err)
		}
		answer()
		time.Sleep(time.Second)
		w.mustDraw(gen)
		answer = store.hang()
		defer answer()
		within("Release", 1500*time.Millisecond, lease.Release)
		answer()
		time.Sleep(time.Minute)
		if n := w.held(); n != 0 {
			t.Errorf("%d worker IDs are held", n)
		}
	})
}

// Claims that no call waits for any more are released, whether they were answered late, in
// time, or not at all.
func TestCancelledAcquires(t *testing.T) {
	for name, change := range map[string]func(*flaky){
		"at once":        func(*flaky) {},
		"slowly":         func(f *flaky) { f.slow = 1200 * time.Millisecond },
		"and lost":       func(f *flaky) { f.lose = 300 },
		"slowly, lost":   func(f *flaky) { f.slow, f.lose = 1200*time.Millisecond, 300 },
		"beyond Timeout": func(f *flaky) { f.slow = 3500 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.store.set(change)
				w.cfg.ClaimWait, w.cfg.NoExpiry = time.Minute, true
				for wave := range 10 {
					var callers sync.WaitGroup
					for i := range 100 {
						patience := time.Duration(10*i+wave) * 3 * time.Millisecond
						callers.Go(func() {
							ctx, cancel := context.WithTimeout(context.Background(), patience)
							defer cancel()
							began := time.Now()
							lease, err := worker.Acquire(ctx, w.store, w.cfg)
							if time.Since(began) > patience {
								t.Errorf("%v after %v", err, time.Since(began))
							}
							if err == nil {
								_ = lease.Close()
							}
						})
					}
					callers.Wait()
				}
				time.Sleep(time.Minute)
				if n := w.held(); n != 0 {
					t.Errorf("%d worker IDs are held", n)
				}
			})
		})
	}
}

// A generator whose clock is ahead of its lease's gets one clear error, and no worker ID
// is exchanged for it.
func TestGeneratorAheadOfItsLease(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.newGenerator(core.Config{Worker: lease, Now: func() time.Time { return time.Now().Add(45 * time.Second) }})
		for range 20 {
			if _, err := gen.Next(w.Context()); !errors.Is(err, core.ErrFenced) {
				t.Errorf("%v", err)
			}
		}
		if st := lease.Stats(); st.Claims != 1 || st.Failures > 0 {
			t.Errorf("%+v", st)
		}
	})
}

// While Config.NotBefore is ahead, beyond the fence or not, calls fail at once and say why, and
// the lease renews as if there were none. Ids begin as soon as the clock and the policy allow.
func TestNotBeforeAhead(t *testing.T) {
	for name, c := range map[string]struct {
		policy core.ClockPolicy
		begin  time.Duration // when ids begin
	}{
		"Logical":  {nil, 50 * time.Second},                               // 10s ahead
		"MaxAhead": {core.Logical{MaxAhead: time.Hour}, 45 * time.Second}, // half a FenceWindow ahead
		"Detached": {core.Logical{Detached: true}, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.cfg.NotBefore, w.cfg.ClockPolicy = w.now().Add(time.Minute), c.policy
				gen, err := worker.Open(w.Context(), w.store, w.cfg)
				if err != nil {
					w.Fatal(err)
				}
				defer gen.Close(w.Context())
				began := time.Now()
				for {
					asked := time.Now()
					if _, err = gen.Next(w.Context()); err == nil {
						break
					}
					var clock *core.ClockError
					if !errors.As(err, &clock) || !clock.NotBefore.Equal(w.cfg.NotBefore.Add(time.Millisecond)) || clock.Back != clock.NotBefore.Sub(asked) ||
						!strings.Contains(err.Error(), "ids begin at 2000-01-01T00:01:00.001Z, because of NotBefore") {
						w.Fatalf("%v", err)
					}
					if took := time.Since(asked); took > 0 {
						w.Fatalf("after %v: %v", took, err)
					}
					time.Sleep(10 * time.Millisecond)
				}
				// The fence follows the clock by renewals, and the last second is waited for.
				if took := time.Since(began); took < c.begin-2*time.Second || took > c.begin+10*time.Second {
					w.Errorf("ids begin after %v", took)
				}
				if n := len(w.store.tries()); n > 7 {
					w.Errorf("%d renewals in %v", n, time.Since(began))
				}
			})
		})
	}
}

// Ids that are drawn faster than the layout has them wait for the clock, or with Detached at the fence:
// under the same worker ID.
func TestSaturatingFill(t *testing.T) {
	for _, policy := range []core.ClockPolicy{nil, core.Logical{Detached: true}} {
		inWorld(t, func(w *world) {
			w.cfg.FenceWindow, w.cfg.Layout.Tick = 6*time.Second, 50*time.Millisecond
			lease := w.acquire(nil)
			gen := w.generator(lease, policy)
			ids := make([]int64, 16*5) // of a quarter of a second
			began := time.Now()
			total := 0
			for time.Since(began) < time.Minute {
				if err := gen.Fill(w.Context(), ids); err != nil {
					t.Fatal(err)
				}
				total += len(ids)
			}
			if st := lease.Stats(); st.Claims != 1 || total < 16*60*20 || len(w.store.tries()) > 5*60 {
				t.Errorf("%v: %+v: %d ids, %d renewals", policy, st, total, len(w.store.tries()))
			}
		})
	}
}

// With RequirePreferred, Acquire waits until the claim of a crashed holder expires, but not
// for a holder that is alive.
func TestRequirePreferredAfterACrash(t *testing.T) {
	inWorld(t, func(w *world) {
		crashed := &flaky{Store: w.mem}
		w.cfg.Preferred, w.cfg.RequirePreferred = ref(int64(3)), true
		w.acquireFrom(crashed, w.cfg)
		began := time.Now()
		if _, err := worker.Acquire(w.Context(), w.store, w.cfg); !errors.Is(err, worker.ErrNoWorkerID) || time.Since(began) > 11*time.Second {
			t.Errorf("its holder is alive: %v after %v", err, time.Since(began))
		}
		crashed.set(func(f *flaky) { f.down = errNetwork })
		time.AfterFunc(20*time.Second, func() { w.store.set(func(f *flaky) { f.down = errNetwork }) }) // which changes nothing
		time.AfterFunc(21*time.Second, func() { w.store.set(func(f *flaky) { f.down = nil }) })
		began = time.Now()
		if _, err := w.keep(worker.Acquire(w.Context(), w.store, w.cfg)); err != nil || time.Since(began) > 42*time.Second {
			t.Errorf("its holder has crashed: %v after %v", err, time.Since(began))
		}
	})
}
