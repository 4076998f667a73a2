package cluster

import (
	"slices"
	"sync"
	"testing"
)

// A tally keeps all ids that were issued, by all holders.
type tally struct {
	mu  sync.Mutex
	ids []int64
}

func (a *tally) add(ids []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids = append(a.ids, ids...)
}

// twice gives the ids that were issued more than once, ascending, and how many there
// are in all.
func (a *tally) twice() (duplicates []int64, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Sorted(slices.Values(a.ids))
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			duplicates = append(duplicates, all[i])
		}
	}
	return slices.Compact(duplicates), len(all)
}

func TestTally(t *testing.T) {
	for _, c := range []struct {
		holders [][]int64
		want    []int64
	}{
		{nil, nil},
		{[][]int64{{1, 2}, {3}}, nil},
		{[][]int64{{1, 2}, {3, 2}}, []int64{2}},
		{[][]int64{{5, 5, 5}, {9}, {9}}, []int64{5, 9}},
	} {
		var a tally
		var wg sync.WaitGroup
		total := 0
		for _, ids := range c.holders {
			total += len(ids)
			wg.Go(func() { a.add(ids) })
		}
		wg.Wait()
		if got, n := a.twice(); !slices.Equal(got, c.want) || n != total {
			t.Errorf("%v: %v of %d, want %v of %d", c.holders, got, n, c.want, total)
		}
	}
}
