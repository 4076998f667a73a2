package cluster

import (
	"cmp"
	"slices"
	"sync"
)

// A tally keeps all ids that all holders have issued. Consecutive ids share an entry, so 10^8
// of them take some ten megabytes.
type tally struct {
	mu     sync.Mutex
	fresh  []stretch // not looked at yet
	known  []stretch // ascending
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
		if end := len(a.fresh) - 1; end >= 0 && a.fresh[end].last == id-1 {
			a.fresh[end].last = id
			continue
		}
		a.fresh = append(a.fresh, stretch{id, id})
	}
}

// twice returns the ids that were issued more than once, ascending, and the number of all ids.
func (a *tally) twice() (duplicates []int64, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	byFirst := func(x, y stretch) int { return cmp.Compare(x.first, y.first) }
	slices.SortFunc(a.fresh, byFirst)
	all, fresh, known := make([]stretch, 0, len(a.known)+len(a.fresh)), a.fresh, a.known
	for len(fresh)+len(known) > 0 {
		from := &known
		if len(known) == 0 || len(fresh) > 0 && byFirst(fresh[0], known[0]) < 0 {
			from = &fresh
		}
		s := (*from)[0]
		*from = (*from)[1:]
		if end := len(all) - 1; end >= 0 && s.first <= all[end].last+1 {
			for id := s.first; id <= min(s.last, all[end].last); id++ {
				a.double = append(a.double, id)
			}
			all[end].last = max(all[end].last, s.last)
			continue
		}
		all = append(all, s)
	}
	a.fresh, a.known = nil, all
	slices.Sort(a.double)
	a.double = slices.Compact(a.double)
	return a.double, a.n
}
