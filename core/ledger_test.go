package core_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// ledger gives out grants of a few worker IDs, with fences, and keeps what a store would:
// how far each ID may have been used. It wastes nothing: an ID that
// comes back begins at the very instant that was reported to be unused.
type ledger struct {
	layout core.Layout
	window time.Duration
	now    func() time.Time

	mu    sync.Mutex
	rnd   *rand.Rand
	until map[int64]time.Time // by worker ID; one that is granted is not in free
	free  []int64
	spans []span
}

// span is one grant and what it was allowed.
type span struct {
	worker      int64
	from, until time.Time
}

func newLedger(l core.Layout, numbers int64, window time.Duration, seed uint64, now func() time.Time) *ledger {
	b := &ledger{layout: l, window: window, now: now, rnd: rand.New(rand.NewPCG(seed, 0)), until: map[int64]time.Time{}}
	for n := range numbers {
		b.free = append(b.free, n)
	}
	return b
}

// holding is one generator's Worker: the grant it has, by way of the ledger.
type holding struct {
	*ledger
	grant *core.Grant
	span  int
}

var errNoneFree = errors.New("no number is free")

// Grant returns a free worker ID in place of the one that was lost.
func (h *holding) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.free) == 0 {
		return nil, errNoneFree // and the one it has stays its own
	}
	if prev != nil {
		h.giveBackLocked()
	}
	i := h.rnd.IntN(len(h.free))
	n := h.free[i]
	h.free = slices.Delete(h.free, i, i+1)
	s := span{worker: n, from: h.until[n]}
	s.until = h.now().Add(h.window)
	if s.until.Before(s.from) {
		s.until = s.from.Add(h.window)
	}
	gr, err := core.NewGrant(h.layout, n, s.from, s.until)
	if err != nil {
		return nil, err
	}
	h.until[n], h.grant, h.span = s.until, gr, len(h.spans)
	h.spans = append(h.spans, s)
	return gr, nil
}

// giveBack returns the worker ID, with the rest of its time.
func (h *holding) giveBack() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.giveBackLocked()
}

func (h *holding) giveBackLocked() {
	if h.grant == nil {
		return
	}
	s := h.spans[h.span]
	h.until[s.worker] = h.grant.Close()
	h.free = append(h.free, s.worker)
	h.grant = nil
}

// raise records a later end, and only then allows it.
func (h *holding) raise(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grant == nil {
		return
	}
	s := &h.spans[h.span]
	s.until = s.until.Add(by)
	h.until[s.worker] = s.until
	h.grant.RaiseFence(s.until)
}

// revoke takes the right away, as a steal would.
func (h *holding) revoke() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grant != nil {
		h.grant.Revoke(errors.New("taken"))
	}
}

// allows reports whether some grant covers an id's worker and time.
func (b *ledger) allows(p core.Parts) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := p.Datacenter<<b.layout.WorkerBits | p.Worker
	return slices.ContainsFunc(b.spans, func(s span) bool {
		return s.worker == n && !p.Time.Before(s.from) && p.Time.Before(s.until)
	})
}
