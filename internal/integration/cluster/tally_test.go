package cluster

import (
	"cmp"
	"slices"
	"sync"
	"testing"
)

// A tally keeps all ids that all holders have issued. Consecutive ids share an entry, so 10^8
// of them take some ten megabytes.
type tally struct {
	mu     sync.Mutex
	all    []stretch
	n      int
	double []int64 // what has been issued more than once, ascending
}

// A stretch is a range of consecutive ids.
type stretch struct{ first, last int64 }

func (a *tally) add(ids []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n += len(ids)
	for _, id := range ids {
		if end := len(a.all) - 1; end >= 0 && a.all[end].last == id-1 {
			a.all[end].last = id
			continue
		}
		a.all = append(a.all, stretch{id, id})
	}
}

// twice returns the ids that were issued more than once, ascending, and the number of all ids.
func (a *tally) twice() (duplicates []int64, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortFunc(a.all, func(x, y stretch) int { return cmp.Compare(x.first, y.first) })
	merged := a.all[:0]
	for _, s := range a.all {
		end := len(merged) - 1
		if end < 0 || s.first > merged[end].last+1 {
			merged = append(merged, s)
			continue
		}
		for id := s.first; id <= min(s.last, merged[end].last); id++ {
			a.double = append(a.double, id)
		}
		merged[end].last = max(merged[end].last, s.last)
	}
	a.all = merged
	slices.Sort(a.double)
	a.double = slices.Compact(a.double)
	return a.double, a.n
}

// What finds the duplicates of the other tests finds some.
func TestTally(t *testing.T) {
	for _, c := range []struct {
		holders [][]int64
		want    []int64
	}{
		{[][]int64{{1, 2}, {3}}, nil},
		{[][]int64{{5, 5, 5}, {9}, {9}}, []int64{5, 9}},
		{[][]int64{{1, 2, 3}, {7, 8}, {3, 4, 5, 6, 7}}, []int64{3, 7}},
	} {
		var a tally
		n := 0
		for _, ids := range c.holders {
			a.add(ids)
			n += len(ids)
		}
		if got, all := a.twice(); !slices.Equal(got, c.want) || all != n {
			t.Errorf("%v: %v of %d", c.holders, got, all)
		}
	}
}
