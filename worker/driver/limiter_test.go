package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

var errDown = errors.New("down")

// backend is a store that many leases ask.
type backend struct {
	mu      sync.Mutex
	err     error
	takes   time.Duration
	asked   int
	running int
	most    int
}

func (b *backend) set(err error, takes time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.takes, b.asked, b.most = err, takes, 0, 0
}

func (b *backend) counts() (asked, most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked, b.most
}

func (b *backend) ask(ctx context.Context) error {
	b.mu.Lock()
	b.asked++
	b.running++
	b.most = max(b.most, b.running)
	err, takes := b.err, b.takes
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.running--
	}()
	select {
	case <-time.After(takes):
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// However many requests fail, in whatever way, a few a second reach the store; and when it is
// back, all succeed soon, and few at a time. Nothing waits afterwards.
func TestLimiter(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		takes time.Duration
	}{
		"refuses":  {errDown, time.Millisecond},
		"hangs":    {errDown, time.Hour},
		"rejects":  {Permanent(errDown), time.Millisecond},
		"is lossy": {&DurabilityError{Setting: "appendonly", Value: "no", Want: "yes"}, time.Millisecond},
	} {
		for _, leases := range []int{1, 300} {
			t.Run(fmt.Sprint(name, " ", leases), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var l Limiter
					var b backend
					var succeeded, failures atomic.Int64
					b.set(c.err, c.takes)
					var all sync.WaitGroup
					for range leases {
						all.Go(func() {
							var last atomic.Bool
							for ; ; time.Sleep(400 * time.Millisecond) {
								ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
								_, err := l.Limit(ctx, &last, nil, func() error { return b.ask(ctx) })
								cancel()
								if err == nil {
									succeeded.Add(1)
									return
								}
								failures.Add(1)
							}
						})
					}
					time.Sleep(10 * time.Second) // the first requests have failed
					b.set(c.err, c.takes)
					before := failures.Load()
					time.Sleep(20 * time.Second)
					if asked, most := b.counts(); asked > 20*5 || most > 2*(gateBurst+3*4) || asked < 20 && leases > 1 {
						t.Errorf("%d leases: %d requests in 20 s, %d at a time", leases, asked, most)
					}
					if n := failures.Load() - before; n < int64(leases)*4 {
						t.Errorf("%d leases: only %d failures in 20 s", leases, n)
					}
					b.set(nil, 5*time.Millisecond)
					time.Sleep(5 * time.Second)
					if asked, most := b.counts(); succeeded.Load() != int64(leases) || asked != leases || most > 64 {
						t.Errorf("%d leases: 5 s after the return %d have succeeded, with %d requests, %d at a time", leases, succeeded.Load(), asked, most)
					}
					all.Wait()
					for _, g := range []*gate{&l.healthy, &l.failing} {
						if g.running != 0 || len(g.waiting) != 0 {
							t.Errorf("afterwards: %d under way, %d wait", g.running, len(g.waiting))
						}
					}
				})
			})
		}
	}
}

func lastFailed() *atomic.Bool {
	var last atomic.Bool
	last.Store(true)
	return &last
}

// failing is a limiter at which one request is under way that fails after a second, and no
// other can pass before.
func failing(t *testing.T) (l *Limiter) {
	l = new(Limiter)
	for range gateBurst + 1 {
		if sent, err := l.Limit(t.Context(), lastFailed(), nil, func() error { return errDown }); !sent || !errors.Is(err, errDown) {
			t.Fatal(sent, err)
		}
	}
	return l
}

// What the store says of one lease is not what the next one gets.
func TestVerdictsAreNotShared(t *testing.T) {
	for _, own := range []error{ErrNotHeld, &NoWorkerIDError{}, &LayoutError{}, &SkewError{}, &core.ConfigError{}, context.Canceled} {
		synctest.Test(t, func(t *testing.T) {
			l := failing(t)
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					time.Sleep(time.Duration(i))
					sent, err := l.Limit(t.Context(), lastFailed(), nil, func() error {
						time.Sleep(time.Second)
						if i == 0 {
							return own
						}
						return nil
					})
					if !sent || (err != nil) != (i == 0) {
						t.Errorf("%T, request %d: sent %v, %v", own, i, sent, err)
					}
				})
			}
			all.Wait()
		})
	}
}

// A failure is shared with those that came before its request was made, and not as permanent.
func TestFailuresAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := failing(t)
		var all sync.WaitGroup
		for i, come := range []time.Duration{0, 1, 2, 2*gateInterval + 1} {
			all.Go(func() {
				time.Sleep(come)
				began := time.Now()
				sent, err := l.Limit(t.Context(), lastFailed(), nil, func() error {
					time.Sleep(gateInterval)
					if i == 0 {
						return Permanent(errDown)
					}
					return nil
				})
				switch {
				case i == 0 && (!sent || !IsPermanent(err)):
					t.Errorf("its own request: sent %v, %v", sent, err)
				case (i == 1 || i == 2) && (sent || err == nil || !errors.Is(err, errDown) && !strings.HasSuffix(err.Error(), "another lease failed: down") || IsPermanent(err)):
					t.Errorf("request %d came before: sent %v, %v", i, sent, err)
				case i == 3 && (!sent || err != nil || time.Since(began) > 4*gateInterval):
					t.Errorf("one that came later: sent %v, %v", sent, err)
				}
			})
		}
		all.Wait()
	})
}

// A request does not wait until no time is left for the store.
func TestHalfOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := failing(t)
		for range 100 { // the last one gets its token after 48 s
			go func() {
				_, _ = l.Limit(t.Context(), lastFailed(), nil, func() error { time.Sleep(time.Minute); return nil })
			}()
		}
		time.Sleep(10 * time.Second)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		sent, err := l.Limit(ctx, lastFailed(), nil, func() error { return nil })
		if sent || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the last failure: down") || time.Since(began) != 1500*time.Millisecond {
			t.Errorf("sent %v after %v, %v", sent, time.Since(began), err)
		}
		time.Sleep(2 * time.Minute)
	})
}

// When the store answers again, thousands of leases do not exceed the connections that it allows.
func TestManyAtTheReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := failing(t)
		b := backend{takes: 5 * time.Millisecond}
		var all sync.WaitGroup
		for range 5000 {
			all.Go(func() {
				if _, err := l.Limit(t.Context(), lastFailed(), nil, func() error { return b.ask(t.Context()) }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if asked, most := b.counts(); asked != 5000 || most > 48 || most < 32 {
			t.Errorf("%d requests, %d at a time", asked, most)
		}
	})
}

// A store that needs more than 48 requests at a time answers all of them again soon after a failure.
func TestMoreThanTheReturnAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		b := backend{takes: 900 * time.Millisecond}
		failure, since, end := time.Now().Add(30*time.Second), time.Now().Add(3*time.Minute), time.Now().Add(10*time.Minute)
		var all sync.WaitGroup
		for i := range 700 {
			all.Go(func() {
				var last atomic.Bool
				time.Sleep(time.Duration(i) * 10 * time.Second / 700)
				for time.Now().Before(end) {
					ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
					_, err := l.Limit(ctx, &last, nil, func() error {
						if now := time.Now(); i == 0 && now.After(failure) && now.Before(failure.Add(10*time.Second)) {
							return errDown
						}
						return b.ask(ctx)
					})
					cancel()
					if err != nil && time.Now().After(since) {
						t.Fatalf("lease %d: %v", i, err)
					}
					time.Sleep(9 * time.Second)
				}
			})
		}
		all.Wait()
		if _, most := b.counts(); most <= 48 {
			t.Fatalf("%d at a time: the test shows nothing", most)
		}
	})
}

// Claims and renewals pass in the order in which they come.
func TestNoneStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := failing(t)
		var order []int
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				time.Sleep(time.Duration(i))
				var kind any
				if i%2 == 0 {
					kind = "claims"
				}
				_, err := l.Limit(t.Context(), lastFailed(), kind, func() error {
					mu.Lock()
					order = append(order, i)
					mu.Unlock()
					time.Sleep(time.Millisecond + time.Duration(i))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for at, i := range order {
			if drift := max(at-i, i-at); drift > 32 { // those that pass together begin in any order
				t.Fatalf("they passed in the order %v", order)
			}
		}
	})
}

// A store that hangs or fails for some leases only does not keep the others from renewing before
// their fences, and requests that never return keep none waiting.
func TestSomeFail(t *testing.T) {
	for name, takes := range map[string]time.Duration{"hangs": 3 * time.Second, "fails at once": time.Millisecond, "never returns": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l Limiter
				var all sync.WaitGroup
				end := time.Now().Add(3 * time.Minute)
				for i := range 300 {
					all.Go(func() {
						var last atomic.Bool
						time.Sleep(time.Duration(i) * 33 * time.Millisecond)
						renewed := time.Now()
						for time.Now().Before(end) {
							ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
							_, err := l.Limit(ctx, &last, nil, func() error {
								if i%3 == 0 {
									time.Sleep(takes)
									return errDown
								}
								time.Sleep(5 * time.Millisecond)
								return nil
							})
							cancel()
							if i%3 != 0 && time.Since(renewed) > 25*time.Second {
								t.Fatalf("lease %d: renewed after %v", i, time.Since(renewed))
							}
							if err != nil {
								time.Sleep(500 * time.Millisecond)
								continue
							}
							renewed = time.Now()
							time.Sleep(10 * time.Second)
						}
					})
				}
				all.Wait()
			})
		})
	}
}
