//go:build unix

package torture

import (
	"cmp"
	"slices"
)

// An interval is a range of consecutive ids, and the process that issued them.
type interval struct {
	first, last int64
	source      int64
}

// A finding is what was issued, and what was issued twice.
type finding struct {
	ids        uint64
	intervals  uint64
	duplicates uint64      // how many ids came again; one that came three times counts twice
	first      []duplicate // some of them
}

// A duplicate is a range of ids that two intervals have in common.
type duplicate struct {
	first, last int64
	sources     [2]int64
}

const shown = 5 // duplicates that a finding names

// add compares each interval with the one before it that ends last. All that have ids in common
// with them must be among them.
func (f *finding) add(intervals []interval) {
	slices.SortFunc(intervals, func(a, b interval) int { return cmp.Compare(a.first, b.first) })
	far := interval{last: -1}
	for _, i := range intervals {
		f.intervals++
		f.ids += uint64(i.last-i.first) + 1
		if i.first <= far.last {
			d := duplicate{i.first, min(i.last, far.last), [2]int64{far.source, i.source}}
			f.duplicates += uint64(d.last-d.first) + 1
			if len(f.first) < shown {
				f.first = append(f.first, d)
			}
		}
		if i.last > far.last {
			far = i
		}
	}
}
