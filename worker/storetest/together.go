package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// span is the validity interval of a claim.
type span struct{ worker, fencingToken, start, fence int64 }

// overlap names two spans of one worker ID that overlap. If there are none, it is empty.
func overlap(spans []span) string {
	slices.SortFunc(spans, func(a, b span) int {
		if a.worker != b.worker {
			return int(a.worker - b.worker)
		}
		return int(a.start - b.start)
	})
	for i, a := range spans {
		for _, b := range spans[i+1:] {
			if a.worker == b.worker && b.start < a.fence && b.start < b.fence && a.start < a.fence {
				return fmt.Sprintf("two claims of one worker ID overlap: %+v and %+v", a, b)
			}
		}
	}
	return ""
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
				h, err := s.try(t, store, func(c *driver.Claim) { c.Now += int64(i)*1000 - 4000 })
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
				if rand.IntN(2) == 0 {
					if err := h.renew(t.Context()); err != nil {
						t.Errorf("renew %+v: %v", h.Lease, err)
					}
				}
				// Few ids were used, or the worker IDs would soon be too far ahead.
				sp := span{h.Worker, h.FencingToken, h.Start, h.Start + rand.Int64N(min(h.Fence-h.Start, 100))}
				if err := h.release(t.Context(), sp.fence); err != nil {
					t.Errorf("release %+v: %v", h.Lease, err)
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
	if text := overlap(spans); text != "" {
		t.Error(text)
	}
}
