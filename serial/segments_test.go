package serial_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var _ sqltype.Source = (*serial.Segments)(nil)

// desk is a counter whose requests a test answers: each takes a delay, and then fails with err,
// or adds to last.
type desk struct {
	mu    sync.Mutex
	last  int64
	sizes []int64 // n of each request
	at    []time.Duration
	began time.Time
	delay time.Duration
	deaf  bool  // it ignores contexts
	err   error // returned after the numbers were taken
	most  int   // requests at once
	open  int
}

func (d *desk) Reserve(ctx context.Context, _ string, n int64) (int64, error) {
	d.mu.Lock()
	if d.began.IsZero() {
		d.began = time.Now()
	}
	d.sizes, d.at = append(d.sizes, n), append(d.at, time.Since(d.began))
	d.open++
	d.most = max(d.most, d.open)
	delay, deaf := d.delay, d.deaf
	d.mu.Unlock()
	if deaf {
		time.Sleep(delay)
	} else {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
	d.last += n
	if err := ctx.Err(); err != nil && !deaf {
		return 0, err
	}
	return d.last - n + 1, d.err
}

func (d *desk) set(change func(d *desk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

// asked checks the sizes of the requests so far.
func (d *desk) asked(t *testing.T, want ...int64) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.sizes, want) {
		t.Errorf("%v were reserved, want %v", d.sizes, want)
	}
	if d.most > 1 {
		t.Errorf("%d requests at once", d.most)
	}
}

func segments(t *testing.T, c serial.Counter, block int64) *serial.Segments {
	t.Helper()
	s, err := serial.NewSegments(serial.SegmentsConfig{Counter: c, Key: "orders", Block: block})
	must(t, err)
	return s
}

// next takes ids one by one.
func next(t *testing.T, s *serial.Segments, want ...int64) {
	t.Helper()
	for _, want := range want {
		if id, err := s.Next(t.Context()); id != want || err != nil {
			t.Fatalf("%d, %v, want %d", id, err, want)
		}
	}
}

// fill takes n ids at once, from first on.
func fill(t *testing.T, s *serial.Segments, n int, first int64) {
	t.Helper()
	ids := make([]int64, n)
	must(t, s.Fill(t.Context(), ids))
	for i, id := range ids {
		if id != first+int64(i) {
			t.Fatalf("id %d is %d, want %d", i, id, first+int64(i))
		}
	}
}

// span returns first to last.
func span(first, last int64) (ids []int64) {
	for ; first <= last; first++ {
		ids = append(ids, first)
	}
	return ids
}

// in runs a test with a desk, Segments of it, and a clock.
func in(t *testing.T, block int64, test func(t *testing.T, d *desk, s *serial.Segments)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{delay: time.Second}
		test(t, d, segments(t, d, block))
		time.Sleep(2 * time.Hour) // for what is under way
	})
}

// For each Block: the sizes of the requests for one id after another, and that never more than a
// Block was reserved and not issued.
func TestHalves(t *testing.T) {
	for _, c := range []struct {
		block  int64
		issued int64
		sizes  []int64
	}{
		{1, 3, []int64{1, 1, 1, 1}},
		{2, 3, []int64{1, 1, 1, 1}},
		{3, 4, []int64{2, 2, 2}},
		{10, 1, []int64{5, 5}},
		{10, 4, []int64{5, 5}},
		{10, 5, []int64{5, 5, 5}},
		{10, 10, []int64{5, 5, 5, 5}},
		{0, 1000, []int64{500, 500, 500, 500}},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.issued, c.block), func(t *testing.T) {
			in(t, c.block, func(t *testing.T, d *desk, s *serial.Segments) {
				most := max(c.block, 1)
				if c.block == 0 {
					most = 1000
				}
				for id := range c.issued {
					next(t, s, id+1)
					time.Sleep(time.Minute)
					synctest.Wait()
					if d.last-id-1 > most {
						t.Fatalf("%d issued, %d reserved", id+1, d.last)
					}
				}
				d.asked(t, c.sizes...)
			})
		})
	}
}

// Callers wait for the first ids, and for no others while a half lasts longer than a request.
func TestPrefetch(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		for id := range int64(100) {
			began := time.Now()
			next(t, s, id+1)
			if waited := time.Since(began); (waited != 0) != (id == 0) {
				t.Errorf("%v for id %d", waited, id+1)
			}
			time.Sleep(time.Second / 4)
		}
	})
}

// All who wait share one request, and are served in their order.
func TestShared(t *testing.T) {
	in(t, 100, func(t *testing.T, d *desk, s *serial.Segments) {
		got := make([]int64, 60)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				id, err := s.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				got[i] = id
			})
			synctest.Wait()
		}
		began := time.Now()
		wg.Wait()
		if took := time.Since(began); took != 2*time.Second || !slices.Equal(got, span(1, 60)) {
			t.Errorf("%v after %v", got, took)
		}
		d.asked(t, 50, 50, 50) // the first began with one who waits, and the third is in the background
	})
}

// One request is for several who wait, but for no more than a Block.
func TestSharedBlock(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		next(t, s, 1)
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if err := s.Fill(t.Context(), make([]int64, 4)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		d.asked(t, 5, 5, 7, 8, 5)
	})
}

// A Fill that is larger than the Block, or than what is left, reserves what it lacks in one request.
func TestFill(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		must(t, s.Fill(t.Context(), nil))
		d.asked(t)
		fill(t, s, 3, 1)
		d.asked(t, 5, 5)
		time.Sleep(time.Minute)
		fill(t, s, 1000, 4)
		d.asked(t, 5, 5, 993, 5)
		fill(t, s, 7, 1004) // waits for the prefetch, and for 5 more
		d.asked(t, 5, 5, 993, 5, 5, 5)
		next(t, s, span(1011, 1020)...)
	})
}

// A Fill is served before those who came later, and when it is given up they are served from what
// is there.
func TestFillHasItsTurn(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		next(t, s, 1)
		time.Sleep(time.Minute) // 2 to 10 are left
		ids := make([]int64, 100)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var wg sync.WaitGroup
		began := time.Now()
		wg.Go(func() {
			if err := s.Fill(ctx, ids); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `100 ids of "orders"`) {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if id, err := s.Next(t.Context()); id != 2 || err != nil || time.Since(began) != time.Second/2 {
				t.Error(id, err, time.Since(began))
			}
		})
		wg.Wait()
		if slices.Max(ids) != 0 {
			t.Errorf("%v were set", ids)
		}
		time.Sleep(time.Minute)
		d.asked(t, 5, 5, 91) // its numbers are for others
		next(t, s, span(3, 101)...)
		d.asked(t, 5, 5, 91, 5)
	})
}

var errDown = errors.New("the store is down")

// While ids are left, a failure is not seen, and is tried again once a second. When none are left,
// each call tries, and has the store's error. Ids come again by themselves.
func TestStoreFails(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		next(t, s, 1)
		time.Sleep(time.Minute)
		d.set(func(d *desk) { d.err, d.delay, d.began = errDown, 0, time.Now(); d.at = nil })
		for id := int64(2); id <= 10; id++ {
			next(t, s, id)
			time.Sleep(time.Second / 2)
		}
		d.asked(t, 5, 5, 5, 5, 5) // when 5 are left, and after a second each
		if want := []time.Duration{1500 * time.Millisecond, 2500 * time.Millisecond, 3500 * time.Millisecond}; !slices.Equal(d.at, want) {
			t.Errorf("at %v, want %v", d.at, want)
		}
		for range 3 {
			if id, err := s.Next(t.Context()); id != 0 || !errors.Is(err, errDown) || !strings.Contains(err.Error(), `"orders"`) {
				t.Error(id, err)
			}
		}
		ids := make([]int64, 20)
		if err := s.Fill(t.Context(), ids); !errors.Is(err, errDown) || slices.Max(ids) != 0 {
			t.Error(ids, err)
		}
		d.asked(t, 5, 5, 5, 5, 5, 5, 5, 5, 20)
		d.set(func(d *desk) { d.err = nil })
		next(t, s, span(61, 70)...) // each failure has taken its numbers
	})
}

// All who wait have the error of their request. What is left serves the calls that need no more.
func TestFailureIsShared(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		next(t, s, 1)
		time.Sleep(time.Minute)
		d.set(func(d *desk) { d.err = errDown })
		began := time.Now()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if err := s.Fill(t.Context(), make([]int64, 10)); !errors.Is(err, errDown) || time.Since(began) != time.Second {
					t.Error(err, time.Since(began))
				}
			})
		}
		wg.Wait()
		d.asked(t, 5, 5, 1)
		wg.Go(func() {
			if err := s.Fill(t.Context(), make([]int64, 10)); !errors.Is(err, errDown) {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if id, err := s.Next(t.Context()); id != 2 || err != nil {
				t.Error(id, err)
			}
		})
		wg.Wait()
		next(t, s, span(3, 10)...)
	})
}

// A caller that gives up takes nothing. Its request continues, and other calls get the ids.
func TestGiveUp(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		began := time.Now()
		if id, err := s.Next(ctx); id != 0 || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second/2 {
			t.Error(id, err, time.Since(began))
		}
		next(t, s, 1)
		if took := time.Since(began); took != time.Second {
			t.Errorf("%v", took)
		}
		for range 100 {
			if id, err := s.Next(ctx); id != 0 || err == nil {
				t.Fatal(id, err)
			}
			if err := s.Fill(ctx, make([]int64, 1)); err == nil {
				t.Fatal("no error")
			}
		}
		next(t, s, 2)
		d.asked(t, 5, 5)
	})
}

// A driver that ignores its context delays no call for longer than the Timeout, and its late
// answer is dropped.
func TestHangs(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		d.deaf, d.delay = true, time.Hour
		for range 2 {
			began := time.Now()
			id, err := s.Next(t.Context())
			if took := time.Since(began); id != 0 || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `serial: reserve number for "orders": the counter: no answer in 5.1s`) || took != 5100*time.Millisecond {
				t.Errorf("%d, %v after %v", id, err, took)
			}
		}
		d.set(func(d *desk) { d.delay = 0; d.most = -10 })
		next(t, s, 1)
		time.Sleep(2 * time.Hour)
		next(t, s, span(2, 10)...) // the late answers have 11 to 20
		next(t, s, 21)
		time.Sleep(time.Minute)
	})
}

// A counter that panics is an error, and the next call asks again.
func TestCounterPanics(t *testing.T) {
	n := 0
	s := segments(t, serial.CounterFunc(func(context.Context, string, int64) (int64, error) {
		if n++; n == 1 {
			panic("ouch")
		}
		return 1, nil
	}), 1)
	if id, err := s.Next(t.Context()); id != 0 || err == nil || !strings.Contains(err.Error(), `"orders": the client panicked: ouch`) {
		t.Error(id, err)
	}
	next(t, s, 1)
}

// When a counter has gone back, no id is issued any more, whatever it answers later: the ids that are
// left, and those above the last one of this process, may be ids of another.
func TestReset(t *testing.T) {
	for _, back := range []int64{0, 5, 9} {
		t.Run(fmt.Sprint(back), func(t *testing.T) {
			in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
				next(t, s, 1)
				time.Sleep(time.Minute) // up to 10
				d.set(func(d *desk) { d.last = back })
				next(t, s, span(2, 6)...)
				time.Sleep(time.Minute)
				d.asked(t, 5, 5, 5)
				next(t, segments(t, d, 1), back+6) // of another process
				d.set(func(d *desk) { d.last = 1000 })
				want := fmt.Sprintf(`the counter returned the numbers %d to %d under the key "orders" after 10`, back+1, back+5)
				for range 3 {
					if id, err := s.Next(t.Context()); id != 0 || err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%d, %v, want %s", id, err, want)
					}
				}
				if err := s.Fill(t.Context(), make([]int64, 7)); err == nil {
					t.Error("no error")
				}
				d.set(func(d *desk) {
					if d.last != 1000 {
						t.Errorf("the counter is %d", d.last)
					}
				})
			})
		})
	}
}

// Ids end with an error, and no id above 2^63-2 is issued.
func TestEnd(t *testing.T) {
	in(t, 10, func(t *testing.T, d *desk, s *serial.Segments) {
		d.last = math.MaxInt64 - 8
		next(t, s, math.MaxInt64-7, math.MaxInt64-6, math.MaxInt64-5, math.MaxInt64-4, math.MaxInt64-3)
		if id, err := s.Next(t.Context()); id != 0 || err == nil || !strings.Contains(err.Error(), "must count up from 1") {
			t.Error(id, err)
		}
	})
	for _, first := range []int64{0, -1, math.MinInt64, math.MaxInt64} {
		s := segments(t, serial.CounterFunc(func(context.Context, string, int64) (int64, error) { return first, nil }), 1)
		if id, err := s.Next(t.Context()); id != 0 || err == nil {
			t.Errorf("%d: %d, %v", first, id, err)
		}
	}
}

func TestSegmentsConfigErrors(t *testing.T) {
	ok := serial.SegmentsConfig{Counter: &counter{}, Key: "orders"}
	for _, c := range []struct {
		change func(*serial.SegmentsConfig)
		want   []string
	}{
		{func(*serial.SegmentsConfig) {}, nil},
		{func(c *serial.SegmentsConfig) { c.Key, c.Block, c.Timeout = strings.Repeat("a", 32), 1<<40, 1 }, nil},
		{func(c *serial.SegmentsConfig) { c.Counter = nil }, []string{"Counter nil: is required"}},
		{func(c *serial.SegmentsConfig) { c.Counter = (*counter)(nil) }, []string{"Counter nil: is required"}},
		{func(c *serial.SegmentsConfig) { c.Key = "" }, []string{`Key "": must have`}},
		{func(c *serial.SegmentsConfig) { c.Key = "20261121:INV" }, []string{`Key "20261121:INV": must have`}},
		{func(c *serial.SegmentsConfig) { c.Block = 1<<40 + 1 }, []string{"Block 1099511627777: must be 1 to 1099511627776"}},
		{func(c *serial.SegmentsConfig) { *c = serial.SegmentsConfig{Block: -1, Timeout: -1} }, []string{"Counter", "Key", "Block", "Timeout -1ns: must not be negative"}},
	} {
		t.Run(fmt.Sprint(c.want), func(t *testing.T) {
			cfg := ok
			c.change(&cfg)
			made, err := serial.NewSegments(cfg)
			checkConfig(t, made != nil, err, c.want)
		})
	}
}

func TestSegmentsNotMade(t *testing.T) {
	for _, s := range []*serial.Segments{nil, {}} {
		if id, err := s.Next(t.Context()); id != 0 || err == nil || !strings.Contains(err.Error(), "made by NewSegments") {
			t.Error(id, err)
		}
		if err := s.Fill(t.Context(), nil); err == nil {
			t.Error("no error")
		}
	}
}

// Several Segments of different Blocks over one counter, whose answers are late and lost, with
// callers that give up: no id twice, each caller's ids ascend, and no more are skipped than the
// document says.
func TestSegmentsTogether(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			store := &counter{}
			lost, bound := int64(0), int64(0)
			seen := map[int64]bool{}
			var wg sync.WaitGroup
			for range 4 {
				mu.Lock()
				block, largest := 1+r.Int64N(50), 1+r.IntN(120)
				mu.Unlock()
				bound += max(block, int64(largest))
				s := segments(t, serial.CounterFunc(func(ctx context.Context, key string, n int64) (int64, error) {
					mu.Lock()
					delay, lose := time.Duration(r.IntN(20))*time.Millisecond, r.IntN(8) == 0
					mu.Unlock()
					time.Sleep(delay)
					first, err := store.Reserve(ctx, key, n)
					time.Sleep(delay)
					if lose {
						mu.Lock()
						lost += n
						mu.Unlock()
						return 0, errLost
					}
					return first, err
				}), block)
				for range 6 {
					wg.Go(func() {
						last := int64(0)
						for range 100 {
							mu.Lock()
							n, patience, pause := 1+r.IntN(largest), time.Duration(1+r.IntN(60))*time.Millisecond, time.Duration(r.IntN(30))*time.Millisecond
							mu.Unlock()
							time.Sleep(pause)
							ctx, cancel := context.WithTimeout(t.Context(), patience)
							ids := make([]int64, n)
							var err error
							if n%3 == 0 {
								ids = ids[:1]
								ids[0], err = s.Next(ctx)
							} else {
								err = s.Fill(ctx, ids)
							}
							cancel()
							mu.Lock()
							for _, id := range ids {
								switch {
								case err != nil && id == 0:
								case err != nil || id <= last || seen[id]:
									t.Errorf("seed %d: %d after %d, seen %v, %v", seed, id, last, seen[id], err)
								default:
									last, seen[id] = id, true
								}
							}
							mu.Unlock()
						}
					})
				}
			}
			wg.Wait()
			time.Sleep(time.Minute)
			synctest.Wait()
			if skipped := store.at["orders"] - int64(len(seen)) - lost; skipped < 0 || skipped > bound {
				t.Errorf("seed %d: %d ids, %d reserved, %d lost; %d skipped, at most %d may be", seed, len(seen), store.at["orders"], lost, skipped, bound)
			}
		})
	}
}
