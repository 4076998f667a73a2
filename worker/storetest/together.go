package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// span is the validity interval of a claim.
type span struct{ worker, fencingToken, from, fence int64 }

// disjoint fails if two spans of one worker ID overlap.
func disjoint(t *testing.T, spans []span) {
	t.Helper()
	slices.SortFunc(spans, func(a, b span) int {
		if a.worker != b.worker {
			return int(a.worker - b.worker)
		}
		return int(a.fencingToken - b.fencingToken)
	})
	for i := 1; i < len(spans); i++ {
		a, b := spans[i-1], spans[i]
		if a.worker == b.worker && (a.fencingToken == b.fencingToken || b.from < a.fence) {
			t.Errorf("two claims of one worker ID overlap: %+v and %+v", a, b)
		}
	}
}

// Many clients claim, renew and release at the same time, with clocks apart.
func manyAtOnce(t *testing.T, s *suite) {
	const clients, rounds = 8, 12
	var mu sync.Mutex
	var spans []span
	var wg sync.WaitGroup
	for i := range clients {
		store := s.Open(t)
		wg.Go(func() {
			deadline := time.Now().Add(patience)
			for round := 0; round < rounds; {
				h, err := s.try(t, store, func(r *driver.Request) { r.Now += int64(i)*1000 - 4000 })
				if errors.Is(err, driver.ErrNoWorkerID) {
					if time.Now().After(deadline) { // the others are enough
						return
					}
					time.Sleep(time.Millisecond)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				round++
				sp := span{h.Worker, h.FencingToken, h.From, h.Fence}
				if rand.IntN(2) == 0 {
					if err := h.renew(t.Context(), h.Fence+100); err != nil {
						t.Errorf("renew %+v: %v", h.Claim, err)
					} else {
						sp.fence += 100
					}
				}
				if rand.IntN(4) > 0 {
					sp.fence = h.From + rand.Int64N(sp.fence-h.From)
				}
				if err := h.release(t.Context(), sp.fence); err != nil {
					t.Errorf("release %+v: %v", h.Claim, err)
				}
				mu.Lock()
				spans = append(spans, sp)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(spans) < rounds {
		t.Errorf("only %d claims succeeded in %v", len(spans), patience)
	}
	disjoint(t, spans)
}

// Requests in any order, also stale ones, against what a holder may believe.
func anyOrder(t *testing.T, s *suite) {
	rng := rand.New(rand.NewPCG(1, 2))
	store := s.Open(t)
	ctx := t.Context()
	type belief struct {
		*holder
		may  span
		over bool // released, or freed
	}
	var all []*belief
	clock := time.Now().UnixMilli()
	for range 250 {
		clock += rng.Int64N(400) - 100
		if rng.IntN(4) == 0 || len(all) == 0 {
			h, err := s.try(t, store, func(r *driver.Request) { r.Now = clock })
			if err == nil {
				all = append(all, &belief{holder: h, may: span{h.Worker, h.FencingToken, h.From, h.Fence}})
			} else if !errors.Is(err, driver.ErrNoWorkerID) {
				t.Fatal(err)
			}
			continue
		}
		b := all[len(all)-1-rng.IntN(min(len(all), 6))]
		switch rng.IntN(3) {
		case 0, 1:
			fence := b.may.fence + rng.Int64N(300) - 100
			err := b.renew(ctx, fence)
			if b.over {
				mustNotHeld(t, "renewed what was released", err)
			} else if must(t, err); fence > b.may.fence {
				b.may.fence = fence
			}
		case 2:
			unused := b.may.from + rng.Int64N(b.may.fence-b.may.from)
			err := b.release(ctx, unused)
			if b.over {
				mustNotHeld(t, "released what was released", err)
			} else {
				must(t, err)
				b.may.fence, b.over = unused, true
			}
		}
	}
	spans := make([]span, len(all))
	for i, b := range all {
		spans[i] = b.may
	}
	disjoint(t, spans)
}

// mortal is a client that may be cut off: from then on nothing that it sends arrives. Its
// generator continues.
type mortal struct {
	driver.Store
	dead atomic.Bool
}

var errDead = errors.New("storetest: the network is down")

func (m *mortal) alive() error {
	if m.dead.Load() {
		return errDead
	}
	return nil
}

func (m *mortal) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := m.alive(); err != nil {
		return driver.Claim{}, err
	}
	return m.Store.Claim(ctx, r)
}

func (m *mortal) Renew(ctx context.Context, r driver.Renewal) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Renew(ctx, r)
}

func (m *mortal) Release(ctx context.Context, r driver.Return) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Release(ctx, r)
}

// Leases and generators over the store, some cut off from it without noticing. No id is
// issued twice.
func generators(t *testing.T, s *suite) {
	const least = 100 // ids
	layout := core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 3}
	var mu sync.Mutex
	seen := map[int64]int{}
	began := time.Now()
	over := func() bool {
		mu.Lock()
		defer mu.Unlock()
		past := time.Since(began)
		return past > 1500*time.Millisecond && len(seen) >= least || past > patience
	}
	var wg, cut sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for life := 0; !over(); life++ {
				store := &mortal{Store: s.Open(t)}
				apart := time.Duration(rand.IntN(2000)-1000) * time.Millisecond
				now := func() time.Time { return time.Now().Add(apart) }
				// A slow store takes as long as the first windows for an answer.
				window := 300 * time.Millisecond << min(life/2, 6)
				gen, err := worker.Open(t.Context(), store, worker.Config{
					Namespace: s.namespace, Layout: layout, FenceWindow: window, TTL: window / 3 * 2, Timeout: patience, MaxLead: time.Hour,
					Now: now, MaxWait: 50 * time.Millisecond,
				})
				if err != nil && expected(err) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				draw := func(fence time.Time) {
					for time.Now().Before(fence) {
						id, err := gen.Next(context.Background())
						if err != nil {
							if !expected(err) {
								t.Error(err)
							}
							return
						}
						mu.Lock()
						seen[id]++
						mu.Unlock()
					}
				}
				draw(time.Now().Add(200 * time.Millisecond))
				if life%2 == i%2 {
					ctx, cancel := context.WithTimeout(context.Background(), patience)
					if err := gen.Close(ctx); err != nil {
						t.Error(err)
					}
					cancel()
					continue
				}
				store.dead.Store(true)
				cut.Go(func() { // it continues beside its successor
					draw(time.Now().Add(2 * time.Second))
					ctx, cancel := context.WithCancel(context.Background())
					cancel()
					_ = gen.Close(ctx)
				})
			}
		})
	}
	wg.Wait()
	cut.Wait()
	twice := 0
	for id, n := range seen {
		if n > 1 {
			if twice++; twice < 5 {
				p, _ := layout.Decode(id)
				t.Errorf("%+v was issued %d times", p, n)
			}
		}
	}
	if len(seen) < least {
		t.Errorf("only %d ids were issued in %v", len(seen), patience)
	}
	t.Logf("%d ids, %d of them twice", len(seen), twice)
}

// expected reports whether a generator may return the error: its ids have reached the fence,
// or its worker ID is lost and no other is free.
func expected(err error) bool {
	return errors.Is(err, core.ErrFenced) || errors.Is(err, core.ErrLost) || errors.Is(err, core.ErrSequenceExhausted) ||
		errors.Is(err, driver.ErrNoWorkerID) || errors.Is(err, errDead)
}
