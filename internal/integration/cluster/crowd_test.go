//go:build cluster

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// few worker IDs, so that they change holders, and few ids in a millisecond.
var layout = core.Layout{TimeBits: 41, WorkerBits: 5, SequenceBits: 6}

// patience is the timeout of what must happen, on a busy machine.
const patience = 3 * time.Minute

const (
	window = 4 * time.Second
	renew  = 500 * time.Millisecond
)

// lease returns what all generators of the namespace have.
func lease() worker.Config {
	return worker.Config{Namespace: "crowd", Layout: layout, FenceWindow: window, RenewInterval: renew}
}

// A crowd is many holders of one namespace that draw ids all the time. Their clocks differ by
// up to some tenths of a second.
type crowd struct {
	t       *testing.T
	ids     tally
	ctx     context.Context
	stop    context.CancelFunc
	wg      sync.WaitGroup
	holders []*holder
	batch   int // how many ids each draws at once, every two milliseconds
}

// A holder keeps its lease, or takes another one every second or two. Half of those leases are
// never released, as after a crash.
type holder struct {
	name    string
	steady  bool         // keeps its lease
	fenced  atomic.Int64 // draws refused at the bound
	asked   atomic.Int64 // when, in Unix nanoseconds, for the last ids that came
	drawn   atomic.Int64 // ids
	claimed atomic.Int64 // numbers
	renewed atomic.Int64
	lost    atomic.Int64

	mu       sync.Mutex
	lastID   time.Time
	idGap    time.Duration // the longest without an id
	lastAck  time.Time
	ackGap   time.Duration // the longest without an acknowledged claim or renewal
	failures map[string]int
}

func newCrowd(t *testing.T) *crowd {
	ctx, stop := context.WithCancel(t.Context())
	return &crowd{t: t, ctx: ctx, stop: stop, batch: 16}
}

// join adds a holder.
func (c *crowd) join(name string, store driver.Store, apart time.Duration, changing bool) {
	h := &holder{name: name, steady: !changing, failures: map[string]int{}, lastID: time.Now(), lastAck: time.Now()}
	c.holders = append(c.holders, h)
	now := func() time.Time { return time.Now().Add(apart) }
	c.wg.Go(func() {
		for life := 0; c.live(h, store, now, changing, life); life++ {
		}
	})
}

// Observe implements core.Observer.
func (h *holder) Observe(e core.Event) {
	switch e.Kind {
	case worker.Claimed:
		h.claimed.Add(1)
	case worker.Renewed:
		h.renewed.Add(1)
	case worker.Lost, worker.Forgotten:
		h.lost.Add(1)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e.Kind {
	case worker.Claimed, worker.Renewed:
		h.ackGap = max(h.ackGap, time.Since(h.lastAck))
		h.lastAck = time.Now()
	case worker.RenewFailed, worker.ClaimFailed, worker.ReleaseFailed:
		h.failures[string(e.Kind)+": "+plain(e.Err)]++
	}
}

var digits = regexp.MustCompile(`\b(\d+(\.\d+)?(ms|s|m)?|[0-9a-f]{16,})\b`)

// plain returns an error without the parts that differ each time.
func plain(err error) string {
	text := err.Error()
	if i := strings.Index(text, "Error "); i >= 0 {
		return fmt.Sprintf("%.120s", text[i:])
	}
	return fmt.Sprintf("%.160s", digits.ReplaceAllString(text, "N"))
}

// live is one lease. It reports whether the holder takes another.
func (c *crowd) live(h *holder, store driver.Store, now func() time.Time, changing bool, life int) bool {
	cfg := lease()
	cfg.Now, cfg.Timeout, cfg.ClaimWait, cfg.MaxWait, cfg.Observer = now, 2*time.Second, time.Second, 50*time.Millisecond, h
	gen, err := worker.Open(c.ctx, store, cfg)
	switch {
	case c.ctx.Err() != nil:
		_ = gen.Close(context.Background())
		return false
	case err != nil: // the store is away
		if inner := errors.Unwrap(err); inner != nil { // it may wrap several
			err = inner
		}
		h.mu.Lock()
		h.failures["open: "+plain(err)]++
		h.mu.Unlock()
		return true
	}
	end := make(<-chan time.Time)
	if changing {
		end = time.After(time.Duration(1000+life*377%1000) * time.Millisecond)
	}
	more := c.draw(h, gen, end)
	forget, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	if life%2 == 1 {
		done()
	}
	_ = gen.Close(forget)
	return more
}

// draw takes ids until the end. It reports whether the holder continues.
func (c *crowd) draw(h *holder, gen *worker.Generator, end <-chan time.Time) bool {
	pause := time.NewTicker(2 * time.Millisecond)
	defer pause.Stop()
	ids := make([]int64, c.batch)
	for {
		select {
		case <-c.ctx.Done():
			return false
		case <-end:
			return true
		case <-pause.C:
		}
		began := time.Now()
		err := gen.Fill(c.ctx, ids)
		switch {
		case errors.Is(err, core.ErrFenced):
			h.fenced.Add(1)
			continue
		case errors.Is(err, core.ErrSequenceExhausted):
			continue
		case c.ctx.Err() != nil:
			return false
		case err != nil:
			h.mu.Lock()
			h.failures["next: "+plain(err)]++
			h.mu.Unlock()
			continue
		}
		c.ids.add(ids)
		h.asked.Store(began.UnixNano())
		h.drawn.Add(int64(len(ids)))
		h.mu.Lock()
		h.idGap = max(h.idGap, time.Since(h.lastID))
		h.lastID = time.Now()
		h.mu.Unlock()
	}
}

// await waits until a condition is true for every holder.
func (c *crowd) await(what string, ok func(h *holder) bool) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		i := slices.IndexFunc(c.holders, func(h *holder) bool { return !ok(h) })
		if i < 0 {
			return
		}
		if time.Now().After(deadline) {
			h := c.holders[i]
			h.mu.Lock()
			defer h.mu.Unlock()
			c.t.Fatalf("%s: no %s in %v; its errors: %v", h.name, what, patience, h.failures)
		}
	}
}

// progress waits until every holder has drawn new ids, and has had new claims or renewals
// acknowledged.
func (c *crowd) progress(times int64) {
	c.t.Helper()
	c.others(-1, times)
}

// others is progress of the holders whose store is not at this node.
func (c *crowd) others(node int, times int64) {
	c.t.Helper()
	away := fmt.Sprintf("at node %d", node)
	type mark struct{ ids, acks int64 }
	from := map[*holder]mark{}
	for _, h := range c.holders {
		from[h] = mark{h.drawn.Load(), h.claimed.Load() + h.renewed.Load()}
	}
	c.await("progress", func(h *holder) bool {
		return strings.HasSuffix(h.name, away) || h.drawn.Load() > from[h].ids+times*100 && h.claimed.Load()+h.renewed.Load() >= from[h].acks+times
	})
}

// phase causes a failure, waits until all holders continue, and reports the cost.
func (c *crowd) phase(name string, what func()) {
	c.t.Helper()
	for _, h := range c.holders {
		h.mu.Lock()
		h.idGap, h.ackGap, h.failures = 0, 0, map[string]int{}
		h.mu.Unlock()
		h.fenced.Store(0)
	}
	lost, claimed := c.sum(func(h *holder) int64 { return h.lost.Load() }), c.sum(func(h *holder) int64 { return h.claimed.Load() })
	_, before := c.ids.twice()
	began := time.Now()
	what()
	c.progress(2)
	duplicates, n := c.ids.twice()
	if len(duplicates) > 0 {
		p, err := layout.Decode(duplicates[0])
		c.t.Fatalf("%s: %d ids were issued twice, the first %+v, %v", name, len(duplicates), p, err)
	}
	var idGap, ackGap []string
	failures := map[string]int{}
	for _, h := range c.holders {
		h.mu.Lock()
		idGap = append(idGap, fmt.Sprintf("%.2f", h.idGap.Seconds()))
		ackGap = append(ackGap, fmt.Sprintf("%.2f", h.ackGap.Seconds()))
		for text, n := range h.failures {
			failures[text] += n
		}
		h.mu.Unlock()
	}
	c.t.Logf("%s: %.1fs, %d ids, no duplicate; %d claims, %d losses, %d draws fenced; longest seconds of each holder without an id %v, without an acknowledgement %v",
		name, time.Since(began).Seconds(), n-before, c.sum(func(h *holder) int64 { return h.claimed.Load() })-claimed,
		c.sum(func(h *holder) int64 { return h.lost.Load() })-lost, c.sum(func(h *holder) int64 { return h.fenced.Load() }), idGap, ackGap)
	for _, text := range slices.Sorted(maps.Keys(failures)) {
		c.t.Logf("    %4d x %s", failures[text], text)
	}
}

func (c *crowd) sum(of func(h *holder) int64) (n int64) {
	for _, h := range c.holders {
		n += of(h)
	}
	return n
}

// leave ends all holders.
func (c *crowd) leave() {
	c.stop()
	c.wg.Wait()
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustNew returns what a constructor has made.
func mustNew[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}
