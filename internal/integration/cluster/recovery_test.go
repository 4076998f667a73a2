//go:build cluster

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// acknowledged records the first renewal and the first row that were requested after the end
// of the old primary, and acknowledged.
type acknowledged struct {
	mu           sync.Mutex
	since        time.Time // zero: nothing is waited for
	renewal, row time.Time
	both         chan struct{} // closed when both are there
}

// forget begins a new kill.
func (a *acknowledged) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since, a.renewal, a.row, a.both = time.Time{}, time.Time{}, time.Time{}, make(chan struct{})
}

// from sets the end of the old primary.
func (a *acknowledged) from(gone time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = gone
}

func (a *acknowledged) renewed(asked time.Time) { a.note(&a.renewal, asked) }
func (a *acknowledged) written(asked time.Time) { a.note(&a.row, asked) }

func (a *acknowledged) note(first *time.Time, asked time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() || asked.Before(a.since) || !first.IsZero() {
		return
	}
	if *first = time.Now(); !a.renewal.IsZero() && !a.row.IsZero() {
		close(a.both)
	}
}

// await returns how long after the kill each was acknowledged.
func (a *acknowledged) await(t *testing.T, killed time.Time) (renewal, row time.Duration) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-a.both:
	case <-late.C:
		t.Fatalf("no renewal and no row in %v after the kill", patience)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.renewal.Sub(killed), a.row.Sub(killed)
}

// watched is a store whose renewals are recorded.
type watched struct {
	driver.Store
	acks *acknowledged
}

// Renew implements driver.Store.
func (w watched) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	asked := time.Now()
	l, err := w.Store.Renew(ctx, r)
	if err == nil {
		w.acks.renewed(asked)
	}
	return l, err
}

// An outcome is the result of one kill.
type outcome struct {
	renewal, row time.Duration // from the kill to the first one acknowledged
	gap          time.Duration // the longest time without ids of a holder that keeps its lease
	moved        bool          // another member takes writes
	lost         int           // acknowledged rows that are not there
}

// figures are the results of a run.
type figures struct {
	ids, rows, unknown int
	byWay              map[string][]outcome
}

func (f *figures) add(t *testing.T, way string, o outcome) {
	t.Helper()
	if f.byWay == nil {
		f.byWay = map[string][]outcome{}
	}
	f.byWay[way] = append(f.byWay[way], o)
	t.Logf("%s: renewed after %.2fs, a row after %.2fs, at most %.2fs without ids", way, o.renewal.Seconds(), o.row.Seconds(), o.gap.Seconds())
	if o.lost > 0 {
		t.Errorf("%s: %d acknowledged rows are lost", way, o.lost)
	}
}

// table formats the figures that docs/leases.md quotes.
func (f *figures) table(took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| killed | times | another primary | renewed after: p50 | p99 | row after: p50 | p99 | longest without ids: p50 | p99 |\n")
	fmt.Fprintf(&b, "|---|---|---|---|---|---|---|---|---|\n")
	var all []outcome
	for _, way := range slices.Sorted(maps.Keys(f.byWay)) {
		all = append(all, f.byWay[way]...)
		f.line(&b, way, f.byWay[way])
	}
	f.line(&b, "all", all)
	lost := 0
	for _, o := range all {
		lost += o.lost
	}
	fmt.Fprintf(&b, "%d kills in %v, %d ids, 0 duplicates; %d rows acknowledged, %d lost, %d of unknown outcome",
		len(all), took.Round(time.Second), f.ids, f.rows, lost, f.unknown)
	return b.String()
}

func (f *figures) line(b *strings.Builder, way string, of []outcome) {
	moved := 0
	for _, o := range of {
		if o.moved {
			moved++
		}
	}
	fmt.Fprintf(b, "| %s | %d | %d |", way, len(of), moved)
	for _, what := range []func(outcome) time.Duration{
		func(o outcome) time.Duration { return o.renewal }, func(o outcome) time.Duration { return o.row }, func(o outcome) time.Duration { return o.gap },
	} {
		fmt.Fprintf(b, " %.2f s | %.2f s |", quantile(of, what, 50).Seconds(), quantile(of, what, 99).Seconds())
	}
	b.WriteString("\n")
}

// quantile is the least value that so many of a hundred do not exceed.
func quantile(of []outcome, what func(outcome) time.Duration, percent int) time.Duration {
	sorted := slices.SortedFunc(slices.Values(of), func(x, y outcome) int { return cmp.Compare(what(x), what(y)) })
	if len(sorted) == 0 {
		return 0
	}
	return what(sorted[(len(sorted)*percent+99)/100-1])
}
