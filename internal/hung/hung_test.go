package hung

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestDo(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		f     func(ctx context.Context) (int, error)
		value int
		is    error
		text  string
		after time.Duration
	}{
		{"a result", func(context.Context) (int, error) { return 7, nil }, 7, nil, "", 0},
		{"an error", func(context.Context) (int, error) { return 0, broken }, 0, broken, "broken", 0},
		{"a panic", func(context.Context) (int, error) { panic("ouch") }, 0, nil, "the client panicked: ouch", 0},
		{"a goroutine that ends", func(context.Context) (int, error) { runtime.Goexit(); return 7, nil }, 0, nil, "the client ended its goroutine", 0},
		{"a client that heeds its context", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, errors.Join(broken, ctx.Err())
		}, 0, broken, "", time.Second},
		{"a result in the last moment", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			time.Sleep(callGrace / 2)
			return 7, nil
		}, 7, nil, "", time.Second + callGrace/2},
		{"a client that ignores its context", func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			return 7, nil
		}, 0, context.DeadlineExceeded, "ask: no answer in 1.1s", time.Second + callGrace},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls Calls
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				value, err := Do(ctx, &calls, "ask", func() (int, error) { return c.f(ctx) })
				if took := time.Since(began); value != c.value || took != c.after {
					t.Errorf("%d after %v, want %d after %v", value, took, c.value, c.after)
				}
				if c.is != nil && !errors.Is(err, c.is) || (err == nil) != (c.is == nil && c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
					t.Errorf("%v", err)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if n := calls.abandoned; n != 0 {
					t.Errorf("%d are counted as abandoned", n)
				}
			})
		})
	}
}

func TestDoneBefore(t *testing.T) {
	var calls Calls
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Do(ctx, &calls, "ask", func() (int, error) { t.Error("called"); return 0, nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A client that hangs holds a limited number of goroutines, whatever else it does. When it
// answers again, the next probe notices, and calls that never return count no more.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls Calls
		var hangs atomic.Bool
		hang := make(chan struct{})
		var entered atomic.Int64
		ask := func() (took time.Duration, err error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			_, err = Do(ctx, &calls, "ask", func() (int, error) {
				if entered.Add(1); hangs.Load() {
					<-hang
				}
				return 0, nil
			})
			return time.Since(began), err
		}
		outage := func(lasts time.Duration) (made int64) {
			hangs.Store(true)
			before := entered.Load()
			for began := time.Now(); time.Since(began) < lasts; time.Sleep(100 * time.Millisecond) {
				if _, err := ask(); err == nil {
					t.Fatal("no error")
				}
			}
			hangs.Store(false)
			return entered.Load() - before
		}
		if n := outage(maxInARow * 1200 * time.Millisecond); n != maxInARow {
			t.Errorf("%d calls", n)
		}
		began := time.Now()
		refused := 0
		for {
			took, err := ask()
			if err == nil {
				break
			}
			if refused++; took != 0 || !strings.Contains(err.Error(), "ask: 16 earlier requests have not returned") {
				t.Fatalf("%v after %v", err, took)
			}
			time.Sleep(time.Millisecond)
		}
		if waited := time.Since(began); waited > probeInterval {
			t.Errorf("a call was made %v after the client's return, and %d were refused", waited, refused)
		}
		for range 100 {
			if _, err := ask(); err != nil {
				t.Fatalf("after one that returned: %v", err)
			}
		}
		if n := outage(time.Minute); n > maxInARow+12 {
			t.Errorf("%d calls in a minute", n)
		}
		if n := outage(10 * time.Hour); calls.abandoned != maxAbandoned || entered.Load()-100-1 != maxAbandoned {
			t.Errorf("%d calls in 10 hours, and %d are under way", n, calls.abandoned)
		}
		close(hang)
		synctest.Wait()
		if _, err := ask(); err != nil || calls.abandoned != 0 {
			t.Errorf("when they have returned, %d are counted: %v", calls.abandoned, err)
		}
	})
}
