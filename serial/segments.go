package serial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
)

// Segments issues ids 1, 2, 3, … from blocks that it reserves in a counter. It is a
// sqltype.Source, as a generator is. Others call this segment mode, or pooled hi/lo. Make it
// with NewSegments. Any number of goroutines may share it. The methods of the zero Segments
// return errors.
//
// No id is issued twice, in any process, provided the counter's store loses no acknowledged
// write. The ids of one Segments ascend; those of several interleave, and their Blocks may
// differ. A process that stops skips the ids that it has reserved and not issued: at most Block,
// or those of one Fill if they are more. A reservation whose answer is lost is skipped.
//
// Half a Block is reserved at a time, in the background when half a Block or less is left. So
// callers wait only if ids are used up sooner than the store answers. While the store fails, a
// Segments issues what it has, and then returns the store's error. When the store answers again,
// ids resume. If a Segments finds that its counter went back, it issues no more ids.
type Segments struct {
	cfg   SegmentsConfig
	calls hung.Calls // to the Counter

	mu      sync.Mutex
	spans   []span    // reserved and not issued, ascending
	left    int64     // how many ids they have
	high    int64     // the last id ever reserved
	waiting []*waiter // calls that found too few ids, in their order
	asking  bool      // a reservation is under way
	retryAt time.Time // when the background may ask again after a failure
	reset   error     // the counter went back: nothing is issued any more
}

// A span is the ids from next to end-1.
type span struct{ next, end int64 }

// A waiter is a call and the ids that it waits for.
type waiter struct {
	ctx  context.Context //nolint:containedctx // for the reservation that the call may cause
	ids  []int64
	done chan error // receives the outcome
}

// SegmentsConfig configures [Segments]. Counter and Key are required.
type SegmentsConfig struct {
	// Counter stores the last id: a store of sqlstore, redisstore, httpstore or etcdstore. A
	// transaction that waits for an id holds its connection, so give the store a pool of its
	// own; in SQLite, which has one writer, its own file.
	Counter Counter
	// Key of the counter: 1 to 32 ASCII letters, digits and . _ - /, such as the name of the
	// table. All Segments of one Key share its ids, in all processes.
	Key string
	// Block is the most ids that are skipped when the process stops. Zero: 1,000.
	Block int64
	// Timeout of one reservation. Zero: 5 s.
	Timeout time.Duration
}

const (
	maxBlock     = 1 << 40 // what the stores accept in one request
	prefetchWait = time.Second
)

// NewSegments returns Segments. It makes no request to the Counter. The error is a
// [*core.ConfigError] with all that is wrong.
func NewSegments(cfg SegmentsConfig) (*Segments, error) {
	var wrong fields.Errors
	if fields.IsNil(cfg.Counter) {
		wrong.Add("Counter", cfg.Counter, "is required")
	}
	if cfg.Key == "" || !codeOK(cfg.Key) {
		wrong.Add("Key", cfg.Key, codeRule+", and at least one")
	}
	cfg.Block = cmp.Or(cfg.Block, 1000)
	if cfg.Block < 0 || cfg.Block > maxBlock {
		wrong.Add("Block", cfg.Block, "must be 1 to %d", int64(maxBlock))
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 5*time.Second)
	if cfg.Timeout < 0 {
		wrong.Add("Timeout", cfg.Timeout, "must not be negative")
	}
	if err := wrong.Err("serial"); err != nil {
		return nil, err
	}
	return &Segments{cfg: cfg}, nil
}

// Next returns the next id. If it has to wait for the Counter and ctx ends first, it issues
// nothing.
func (s *Segments) Next(ctx context.Context) (int64, error) {
	var one [1]int64
	if ctx != nil && s.take(ctx, one[:]) {
		return one[0], nil
	}
	ids := make([]int64, 1) // may be filled by another goroutine, so it is not on the stack
	err := s.Fill(ctx, ids)
	return ids[0], err
}

// Fill sets all ids, ascending, or none. It reserves what is missing in one request, also if
// that is more than a Block.
func (s *Segments) Fill(ctx context.Context, ids []int64) error {
	if s == nil || s.cfg.Counter == nil {
		return errors.New("serial: Segments must be made by NewSegments")
	}
	if err := ctx.Err(); err != nil || len(ids) == 0 || s.take(ctx, ids) {
		return err
	}
	w := &waiter{ctx, ids, make(chan error, 1)}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.serve()
	s.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, w)
	if i < 0 {
		return <-w.done
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.serve() // those behind it may need less
	return fmt.Errorf("serial: wait for %d ids of %q: %w", len(ids), s.cfg.Key, ctx.Err())
}

// take sets ids if there are enough and no other call waits.
func (s *Segments) take(ctx context.Context, ids []int64) bool {
	if s == nil || ctx.Err() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 || s.left < int64(len(ids)) {
		return false
	}
	s.issue(ids)
	s.reserve(ctx)
	return true
}

// issue sets ids, of which there are enough.
func (s *Segments) issue(ids []int64) {
	s.left -= int64(len(ids))
	for len(ids) > 0 {
		first := &s.spans[0]
		n := min(int64(len(ids)), first.end-first.next)
		for i := range n {
			ids[i] = first.next + i
		}
		ids = ids[n:]
		if first.next += n; first.next == first.end {
			s.spans = s.spans[1:]
		}
	}
}

// serve sets the ids of those who wait, in their order, as long as there are enough.
func (s *Segments) serve() {
	for len(s.waiting) > 0 {
		w := s.waiting[0]
		if s.left < int64(len(w.ids)) {
			s.reserve(w.ctx)
			return
		}
		s.issue(w.ids)
		w.done <- nil
		if s.waiting = s.waiting[1:]; len(s.waiting) == 0 {
			s.reserve(w.ctx)
		}
	}
}

// reserve begins a reservation, unless one is under way or none is needed.
func (s *Segments) reserve(ctx context.Context) {
	half, room := s.cfg.Block-s.cfg.Block/2, s.cfg.Block-s.left
	switch {
	case s.asking:
		return
	case len(s.waiting) > 0 && s.reset != nil:
		s.fail(s.reset)
		return
	case len(s.waiting) == 0 && (room < half || s.reset != nil || time.Now().Before(s.retryAt)):
		return
	}
	wanted := int64(0) // by the first call that waits, and by the next ones up to a Block
	for i, w := range s.waiting {
		if i > 0 && wanted+int64(len(w.ids)) > s.cfg.Block {
			break
		}
		wanted += int64(len(w.ids))
	}
	s.asking = true
	go s.ask(context.WithoutCancel(ctx), max(wanted-s.left, min(half, room)))
}

// fail ends the calls that wait. Those that need no more than is left get their ids.
func (s *Segments) fail(err error) {
	for _, w := range s.waiting {
		if s.left < int64(len(w.ids)) {
			w.done <- err
			continue
		}
		s.issue(w.ids)
		w.done <- nil
	}
	s.waiting = nil
}

// ask reserves n ids.
func (s *Segments) ask(ctx context.Context, n int64) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	first, err := reserve(ctx, CounterFunc(func(ctx context.Context, key string, n int64) (int64, error) {
		return hung.Do(ctx, &s.calls, "the counter", func() (int64, error) { return s.cfg.Counter.Reserve(ctx, key, n) })
	}), s.cfg.Key, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = false
	if err == nil && first <= s.high {
		err = fmt.Errorf("serial: the counter returned the numbers %d to %d under the key %q after %d: "+
			"it was reset, or restored from a backup; set it above every id in use, and restart", first, first+n-1, s.cfg.Key, s.high)
		s.reset, s.spans, s.left = err, nil, 0 // what is left, and later answers, may be ids of other processes too
	}
	if err != nil {
		s.retryAt = time.Now().Add(prefetchWait)
		s.fail(err)
		return
	}
	s.retryAt = time.Time{}
	s.high, s.left = first+n-1, s.left+n
	s.spans = append(s.spans, span{first, first + n})
	s.serve()
}
