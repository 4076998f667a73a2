package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errDown = errors.New("down")

// backend is a store that many leases ask.
type backend struct {
	mu      sync.Mutex
	err     error
	takes   time.Duration
	shared  bool // each request takes that long for each request under way
	asked   []time.Time
	running int
	most    int
}

func (b *backend) set(err error, takes time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.takes, b.asked, b.most = err, takes, nil, 0
}

func (b *backend) ask(ctx context.Context) error {
	b.mu.Lock()
	b.asked = append(b.asked, time.Now())
	b.running++
	b.most = max(b.most, b.running)
	err, takes := b.err, b.takes
	if b.shared {
		takes *= time.Duration(b.running)
	}
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

// aSecond is how many requests came within one second, at most.
func (b *backend) aSecond() (most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, at := range b.asked {
		end, _ := slices.BinarySearchFunc(b.asked, at.Add(time.Second), time.Time.Compare)
		most = max(most, end-i)
	}
	return most
}

// However many requests fail, in whatever way, 50 a second reach the store; and when it is back,
// all succeed soon, few at a time.
func TestLimiter(t *testing.T) {
	for name, takes := range map[string]time.Duration{"refuses": time.Millisecond, "is slow": time.Second, "hangs": time.Hour} {
		for _, leases := range []int{1, 300, 3000} {
			t.Run(fmt.Sprint(name, " ", leases), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var l Limiter
					var b backend
					var succeeded atomic.Int64
					var all sync.WaitGroup
					b.set(errDown, takes)
					for range leases {
						all.Go(func() {
							for ; ; time.Sleep(400 * time.Millisecond) {
								ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
								err := l.Do(ctx, func() error { return b.ask(ctx) })
								cancel()
								if err == nil {
									succeeded.Add(1)
									return
								}
								if !errors.Is(err, errDown) && !errors.Is(err, context.DeadlineExceeded) {
									t.Error(err)
								}
							}
						})
					}
					time.Sleep(30 * time.Second)
					synctest.Wait()
					if n := b.aSecond(); n > 50+limitRunning || b.most > limitRunning || len(b.asked) < 8 || len(b.asked) > 30*50 {
						t.Errorf("%d requests in 30 s, %d in one second, %d at a time", len(b.asked), n, b.most)
					}
					b.set(nil, 5*time.Millisecond)
					time.Sleep(5 * time.Second)
					synctest.Wait()
					if succeeded.Load() != int64(leases) || len(b.asked) > leases+2*limitRunning || b.most > limitRunning {
						t.Errorf("5 s after the return %d of %d have succeeded, with %d requests, %d at a time", succeeded.Load(), leases, len(b.asked), b.most)
					}
					all.Wait()
					checkSlots(t, &l)
				})
			})
		}
	}
}

// checkSlots looks for slots that were lost.
func checkSlots(t *testing.T, l *Limiter) {
	t.Helper()
	if len(l.slots) != l.withheld || l.withheld > limitRunning-minRunning {
		t.Errorf("%d slots are taken, %d withheld", len(l.slots), l.withheld)
	}
}

// With a processor that is too slow for 16 requests at a time, the limiter finds how many it can answer.
// Otherwise all would time out, again and again.
func TestLimiterSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		b := backend{shared: true}
		var all sync.WaitGroup
		b.set(errDown, time.Millisecond)
		began := time.Now()
		for range 300 {
			all.Go(func() {
				for err := errDown; err != nil && time.Since(began) < 3*time.Minute; time.Sleep(400 * time.Millisecond) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					err = l.Do(ctx, func() error { return b.ask(ctx) })
					cancel()
				}
			})
		}
		time.Sleep(10 * time.Second)
		b.set(nil, 90*time.Millisecond)
		all.Wait()
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("300 requests took %v", took)
		}
		checkSlots(t, &l)
	})
}

// A request whose context is done before its turn is not made, and its error says why it had to wait.
func TestLimiterContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		hang := make(chan struct{})
		for range limitRunning {
			go func() { _ = l.Do(t.Context(), func() error { <-hang; return errDown }) }()
		}
		synctest.Wait()
		overdue := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return l.Do(ctx, func() error { t.Error("it was made"); return nil })
		}
		if err := overdue(); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errDown) || err.Error() == context.DeadlineExceeded.Error() {
			t.Error(err)
		}
		for range limitRunning {
			hang <- struct{}{}
			synctest.Wait()
			if len(l.slots) == limitRunning-minRunning {
				break
			}
		}
		for range limitRunning { // they wait for their turns, and hang then
			go func() { _ = l.Do(t.Context(), func() error { <-hang; return errDown }) }()
		}
		synctest.Wait()
		if err := overdue(); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errDown) {
			t.Error(err)
		}
		close(hang)
	})
}

// What the store says of one lease lets the others pass; what a lease's own end says does not count.
func TestLimiterAnswers(t *testing.T) {
	for _, c := range []struct {
		err  error
		wait bool
	}{
		{nil, false},
		{ErrNotHeld, false},
		{ErrForgotten, false},
		{ErrLocked, false},
		{&NoWorkerIDError{}, false},
		{&LayoutError{}, false},
		{&FloorError{}, false},
		{context.Canceled, true},
		{context.DeadlineExceeded, true},
		{errDown, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var l Limiter
			fail := func(err error) {
				_ = l.Do(t.Context(), func() error { return err })
			}
			fail(errDown)
			fail(errDown)
			fail(c.err)
			began := time.Now()
			fail(errDown)
			if waited := time.Since(began); (waited > 0) != c.wait || waited > limitInterval {
				t.Errorf("after %v, a request waits for %v", c.err, waited)
			}
		})
	}
}

// Requests are made in the order in which they come.
func TestLimiterOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		var order []int
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				time.Sleep(time.Duration(i))
				_ = l.Do(t.Context(), func() error {
					mu.Lock()
					order = append(order, i)
					mu.Unlock()
					time.Sleep(time.Millisecond + time.Duration(i))
					return errDown
				})
			})
		}
		all.Wait()
		for at, i := range order {
			if drift := max(at-i, i-at); drift > limitRunning {
				t.Fatalf("they were made in the order %v", order)
			}
		}
	})
}

// A store that hangs or fails for a third of the leases does not keep the others from renewing before their
// fences.
func TestLimiterSomeFail(t *testing.T) {
	for name, takes := range map[string]time.Duration{"hangs": time.Hour, "fails at once": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l Limiter
				var all sync.WaitGroup
				end := time.Now().Add(3 * time.Minute)
				for i := range 300 {
					all.Go(func() {
						time.Sleep(time.Duration(i) * 33 * time.Millisecond)
						for renewed := time.Now(); time.Now().Before(end); {
							b := backend{err: nil, takes: 5 * time.Millisecond}
							if i%3 == 0 {
								b = backend{err: errDown, takes: takes}
							}
							ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
							err := l.Do(ctx, func() error { return b.ask(ctx) })
							cancel()
							if i%3 != 0 && time.Since(renewed) > 25*time.Second {
								t.Fatalf("lease %d: renewed after %v: %v", i, time.Since(renewed), err)
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

// A request that panics leaves its place.
func TestLimiterPanic(t *testing.T) {
	var l Limiter
	for range 2 * limitRunning {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "down") {
					t.Error(text)
				}
			}()
			_ = l.Do(t.Context(), func() error { panic(errDown) })
		}()
	}
	checkSlots(t, &l)
}
