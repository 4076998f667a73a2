package web

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func draw(t *testing.T, g *generators, l core.Layout, worker int64) (int64, error) {
	t.Helper()
	ids := make([]int64, 1)
	err := g.fill(t.Context(), l, worker, ids)
	return ids[0], err
}

// seconds returns a layout with long ticks whose present tick has just begun.
func seconds(clock *fakeClock) core.Layout {
	return core.Layout{Epoch: clock.now().Add(-1000 * time.Hour), Tick: 10 * time.Second, TimeBits: 40, WorkerBits: 10, SequenceBits: 10}.WithDefaults()
}

// fakeClock is a clock that a test sets.
type fakeClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func faked(limit int, patience time.Duration) (*generators, *fakeClock) {
	clock := &fakeClock{at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	g := newGenerators(limit, patience)
	g.clock = clock.now
	return g, clock
}

// A generator stays until the tick of its last id is over, and the error says when that is.
func TestRetryAfter(t *testing.T) {
	g, clock := faked(1, 20*time.Millisecond)
	l := seconds(clock)
	want := func(err error, retry time.Duration) {
		t.Helper()
		var refused *refusal
		if !errors.As(err, &refused) || refused.status != http.StatusServiceUnavailable || refused.retry != retry {
			t.Errorf("%+v, want a repetition in %v", err, retry)
		}
	}
	clock.step(3 * time.Second)
	_, err := draw(t, g, l, 1) // starts with the next tick
	want(err, 7*time.Second)
	clock.step(7 * time.Second)
	if _, err := draw(t, g, l, 1); err != nil {
		t.Fatal(err)
	}
	clock.step(time.Second)
	_, err = draw(t, g, l, 2)
	want(err, 9*time.Second)
	clock.step(9 * time.Second)
	_, err = draw(t, g, l, 2) // the first is evicted, and this one starts with the next tick
	want(err, 10*time.Second)
	clock.step(10 * time.Second)
	if _, err := draw(t, g, l, 2); err != nil {
		t.Error(err)
	}
	// Evicted pairs, and so all new ones, wait for a clock that was set back.
	clock.step(10 * time.Second)
	if _, err := draw(t, g, core.Twitter(), 1); err != nil {
		t.Error(err)
	}
	clock.step(-time.Hour)
	for i, reason := range []string{"accepts no more", "was set back"} { // in this order: the second adds a pair
		limit := i + 1
		g.limit = limit
		_, err = draw(t, g, l, 1)
		var refused *refusal
		if !errors.As(err, &refused) || refused.status != http.StatusServiceUnavailable || refused.retry < 59*time.Minute || !strings.Contains(err.Error(), reason) {
			t.Errorf("room for %d: %+v", limit, err)
		}
	}
}

// Whatever the clock does, pairs that are evicted and come back repeat no id, and there are no more than the limit.
func TestEvictedNeverRepeat(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 18))
			g, clock := faked(3, 5*time.Millisecond)
			layouts := []core.Layout{core.Twitter(), core.Sonyflake()} // ticks of 1ms and 10ms
			type key struct {
				layout int
				id     int64
			}
			seen := map[key]bool{}
			for range 150 {
				i := r.IntN(len(layouts))
				if id, err := draw(t, g, layouts[i], r.Int64N(3)); err == nil {
					if seen[key{i, id}] {
						t.Fatalf("%d comes twice", id)
					}
					seen[key{i, id}] = true
				}
				clock.step(time.Duration(r.IntN(24)-10) * time.Millisecond)
			}
			if len(seen) < 20 || len(g.all) > 3 {
				t.Errorf("%d ids, %d pairs", len(seen), len(g.all))
			}
		})
	}
}

// Concurrent requests for more pairs than there is room for repeat no id, and a generator in use
// is not evicted.
func TestConcurrentEviction(t *testing.T) {
	g := newGenerators(4, time.Minute)
	var mu sync.Mutex
	seen := map[int64]bool{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 100 {
				id, err := draw(t, g, core.Twitter(), int64((i+n)%6))
				var refused *refusal
				if errors.As(err, &refused) && refused.status == http.StatusServiceUnavailable {
					continue
				}
				mu.Lock()
				if err != nil || seen[id] {
					t.Errorf("%d, seen %v: %v", id, seen[id], err)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) < 100 {
		t.Errorf("only %d ids", len(seen))
	}
}

func TestLongTick(t *testing.T) {
	h := handler(t, Config{})
	w := ask(h, http.MethodGet, "/api/ids?worker=1&tick=61s&time_bits=30&worker_bits=5")
	check(t, "61s", w.Code, http.StatusBadRequest, w.Body.Bytes(), "tick", "at most 1m0s")
	if w := ask(h, http.MethodGet, "/api/ids?worker=1&tick=61s&time_bits=30&worker_bits=5&time=2026-01-01"); w.Code != http.StatusOK {
		t.Errorf("composed: %d %s", w.Code, w.Body)
	}
}

func TestNoIDs(t *testing.T) {
	h := handler(t, Config{NoIDs: true})
	w := ask(h, http.MethodGet, "/api/ids?worker=1")
	check(t, "generated", w.Code, http.StatusForbidden, w.Body.Bytes(), "time", "generates no ids")
	if body := get[idsBody](t, h, "/api/ids?worker=1&time=2026-01-01"); body.Source != "composed" || body.Guarantee != composed {
		t.Errorf("%+v", body)
	}
}
