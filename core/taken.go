package core

import (
	"cmp"
	"slices"
	"sync"
)

// taken collects what a Fill has taken, until it is complete.
type taken struct {
	few  [8]part // enough without an allocation: what joins on is one part
	n    int
	more *[]part
	pool *sync.Pool // of *[]part
}

type part struct {
	run     *run
	from, n uint64
}

func (t *taken) add(r *run, from, n uint64) {
	if last := t.last(); last != nil && last.run == r && last.from+last.n == from {
		last.n += n
		return
	}
	if t.n < len(t.few) {
		t.few[t.n] = part{r, from, n}
		t.n++
		return
	}
	if t.more == nil {
		if t.more, _ = t.pool.Get().(*[]part); t.more == nil {
			t.more = new([]part)
		}
	}
	*t.more = append(*t.more, part{r, from, n})
}

// done gives back what was borrowed.
func (t *taken) done() {
	if t.more != nil {
		clear(*t.more) // the runs may go
		*t.more = (*t.more)[:0]
		t.pool.Put(t.more)
	}
}

func (t *taken) last() *part {
	switch {
	case t.more != nil:
		return &(*t.more)[len(*t.more)-1]
	case t.n > 0:
		return &t.few[t.n-1]
	}
	return nil
}

// write puts the ids out, ascending. They are that already, unless the clock
// went back meanwhile and the ClockPolicy is one that lets ids descend.
func (t *taken) write(ids []int64) {
	rest := ids
	for i := range t.n {
		rest = t.few[i].write(rest)
	}
	if t.more != nil {
		for i := range *t.more {
			rest = (*t.more)[i].write(rest)
		}
	}
	if t.n > 0 && t.last().run != t.few[0].run {
		slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(uint64(a), uint64(b)) })
	}
}

// write puts out the part's ids and gives what is left of the slice. Within a
// tick each id is one step above the last.
func (p *part) write(ids []int64) (rest []int64) {
	s := p.run.shape
	step := int64(1) << s.seqShift
	out := ids[:p.n]
	for place := p.from; len(out) > 0; {
		id := p.run.id(place)
		n := min(uint64(len(out)), s.seqMax+1-place&s.seqMax)
		for i := range out[:n] {
			out[i] = id
			id += step
		}
		out, place = out[n:], place+n
	}
	return ids[p.n:]
}
