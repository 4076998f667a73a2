package driver

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
				if n := calls.abandoned.Load(); n != 0 {
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

// A client that hangs holds a limited number of goroutines.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls Calls
		hang := make(chan struct{})
		var entered atomic.Int64
		ask := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := Do(ctx, &calls, "ask", func() (int, error) {
				entered.Add(1)
				<-hang
				return 0, nil
			})
			return err
		}
		for range maxAbandoned {
			if err := ask(); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := ask(); err == nil || !strings.Contains(err.Error(), "ask: 16 earlier requests have not returned") || time.Since(began) != 0 || entered.Load() != maxAbandoned {
			t.Errorf("%v after %v, %d calls", err, time.Since(began), entered.Load())
		}
		close(hang)
		synctest.Wait()
		if err := ask(); err != nil {
			t.Errorf("when they have returned: %v", err)
		}
	})
}
