//go:build unix

package torture

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// TestSegments shows with real processes that Segments issue no id twice. On each store, 16
// processes with different Blocks draw from one counter. Processes and stores are stopped and killed
// at any time; requests and replies are lost, late and doubled. No more ids are skipped than the
// processes held when they ended and the failures took.
//
// SNOWKEY_TORTURE_SEGMENTS is the least time over all stores in seconds, 10 if not set.
func TestSegments(t *testing.T) {
	least := time.Duration(setting(t, "SNOWKEY_TORTURE_SEGMENTS", 10)) * time.Second / time.Duration(len(stores()))
	seed := seedOf(t)
	var all uint64
	for _, name := range stores() {
		t.Run(name, func(t *testing.T) {
			r := newTorture(t, name, seed, task{Role: segmentsRole})
			r.until(func(elapsed time.Duration) bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				return elapsed >= least && r.tally[issued] > 0 && r.kills >= 3 && r.stops >= 3 && r.tally[garbled] >= 10 && len(r.outages) > 0
			})
			r.end()
			found, lost := r.checkSegments()
			last := r.lastNumber()
			skipped, bound := last-int64(found.ids), lost+int64(r.started)*atDeath
			suffered, _ := r.happened()
			t.Logf("%d ids in %d intervals, %d duplicates; %d processes, %d killed, %d stopped; %d requests or replies lost, late or doubled, %d failed; %d skipped, at most %d may be; the store: %s",
				found.ids, found.intervals, found.duplicates, r.started, r.kills, r.stops, r.tally[garbled], r.tally[failed], skipped, bound, suffered)
			for _, d := range found.first {
				t.Errorf("DUPLICATE: ids %d to %d are of the processes %d and %d", d.first, d.last, d.sources[0], d.sources[1])
			}
			if found.duplicates > 0 || found.ids != r.tally[issued] {
				t.Errorf("%d duplicates among %d ids, and %d were written down", found.duplicates, found.ids, r.tally[issued])
			}
			if skipped < 0 || skipped > bound {
				t.Errorf("%d ids are skipped, at most %d may be", skipped, bound)
			}
			all += found.ids
		})
	}
	t.Logf("%d ids in all", all)
}

const (
	drawers = 3
	atDeath = (1 + drawers) * most // what a process holds, and what its drawers have not yet written down
)

// checkSegments compares all ids with all others. lost is how many numbers failures may have taken.
func (r *torture) checkSegments() (found finding, lost int64) {
	r.t.Helper()
	var all []interval
	for source, b := range r.books {
		_, err := readLogbook(b.path, 0, func(rec record) {
			switch rec.kind {
			case issued:
				all = append(all, interval{rec.a, rec.a + int64(rec.n) - 1, int64(source)})
			case failed, garbled:
				lost += int64(rec.n)
			}
		})
		if err != nil && !isNotYet(err) {
			r.t.Fatal(err)
		}
	}
	found.add(all)
	return found, lost
}

// lastNumber returns the last one that was reserved.
func (r *torture) lastNumber() int64 {
	r.t.Helper()
	store, err := openStore(r.service.name, r.service.dsn)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for {
		first, err := store.(driver.Counter).Reserve(ctx, space, 1)
		if err == nil {
			return first - 1
		}
		if ctx.Err() != nil {
			r.t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// A wire is between Segments and their counter. Sometimes a request arrives late, or again long
// after the first time, or its reply is lost.
type wire struct {
	counter driver.Counter
	network network
}

// Reserve implements serial.Counter. It records the numbers that may be taken and never issued.
func (w *wire) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	book := w.network.book
	err = w.network.carry(ctx, w.network.rand.oneIn(twiceOne), func(ctx context.Context, again bool) error {
		if again {
			book.write(record{n: uint32(n), kind: garbled})
		}
		got, err := w.counter.Reserve(ctx, key, n)
		if !again {
			first = got
		}
		return err
	})
	if err != nil || ctx.Err() != nil {
		book.write(record{n: uint32(n), kind: failed})
	}
	return first, err
}

// drawSegments is a process that draws from Segments as fast as it can.
func drawSegments(ctx context.Context, k task) error {
	store, book, err := k.open()
	if err != nil {
		return err
	}
	h := &holder{rand: newRandom(k.Seed, 1), book: book}
	block := []int64{1, 10, 100, 1000, most}[h.rand.below(5)]
	counter := &wire{store.(driver.Counter), network{rand: newRandom(k.Seed, 2), book: book}}
	s, err := serial.NewSegments(serial.SegmentsConfig{Counter: counter, Key: space, Block: block, Timeout: 2 * time.Second})
	if err != nil {
		return err
	}
	errs := make(chan error, drawers)
	var wg sync.WaitGroup
	for range drawers {
		wg.Go(func() { errs <- h.drawAll(ctx, s) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *holder) drawAll(ctx context.Context, s *serial.Segments) error {
	buf := make([]int64, most)
	var records []record
	last := int64(0)
	for ctx.Err() == nil {
		ids, err := h.some(s, buf)
		if records = runs(records[:0], ids); len(records) > 0 {
			h.book.write(records...)
		}
		for _, id := range ids {
			if id <= last {
				return fmt.Errorf("id %d came after %d", id, last)
			}
			last = id
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			time.Sleep(time.Millisecond) // the store fails: try again
		}
	}
	return nil
}
