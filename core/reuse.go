package core

import (
	"slices"
	"sort"
	"sync"
)

// leftovers are the places that a run has passed over, in spans from old to
// new. They belong to one run and end with it.
type leftovers struct {
	mu     sync.Mutex
	buf    []span // has room for more, so that they rarely need to be moved to its beginning
	spans  []span // part of buf: ascending, apart, none empty
	closed bool
}

type span struct{ from, to uint64 }

const maxSpans = 1 << 17 // what is kept at the most; the oldest are forgotten

// newLeftovers has room for a window of so many ticks, twice: each tick leaves at
// most one span, which a pop may cut in two. So neither add nor pop allocates.
func newLeftovers(ticks uint64) *leftovers {
	l := &leftovers{buf: make([]span, min(4*(ticks+8), maxSpans))}
	l.spans = l.buf[:0]
	return l
}

// add records [from, to), and forgets what lies before `oldest`.
// It is called by whoever has moved the word across it, so no other can own it.
func (l *leftovers) add(from, to, oldest uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(oldest)
	if from >= to || l.closed {
		return
	}
	l.makeRoom()
	at := len(l.spans)
	for at > 0 && l.spans[at-1].from > from { // goroutines that race come a little out of order
		at--
	}
	l.spans = slices.Insert(l.spans, at, span{from, to})
}

// makeRoom sees that there is room for one span more. If need be it forgets the
// oldest.
func (l *leftovers) makeRoom() {
	if len(l.spans) == cap(l.spans) {
		most := len(l.buf) - len(l.buf)/4 // so that the next move is far away
		l.spans = l.buf[:copy(l.buf, l.spans[max(0, len(l.spans)-most):])]
	}
}

// forget drops what lies before oldest.
func (l *leftovers) forget(oldest uint64) {
	n := 0
	for n < len(l.spans) && l.spans[n].to <= oldest {
		n++
	}
	l.spans = l.spans[n:]
	if len(l.spans) > 0 && l.spans[0].from < oldest {
		l.spans[0].from = oldest
	}
}

// pop takes one place: the first that is not before `from`, or else the last
// before it, but none before `oldest`.
func (l *leftovers) pop(from, oldest uint64) (place uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(oldest)
	if len(l.spans) == 0 {
		return 0, false
	}
	l.makeRoom() // a span may fall in two
	at := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].to > from })
	if at == len(l.spans) { // all lie before it
		at--
		s := &l.spans[at]
		s.to--
		place = s.to
		if s.from == s.to {
			l.spans = l.spans[:at]
		}
		return place, true
	}
	s := &l.spans[at]
	place = max(from, s.from)
	before, after := span{s.from, place}, span{place + 1, s.to}
	switch {
	case before.from == before.to && after.from == after.to:
		l.spans = slices.Delete(l.spans, at, at+1)
	case before.from == before.to:
		*s = after
	case after.from == after.to:
		*s = before
	default:
		*s = before
		l.spans = slices.Insert(l.spans, at+1, after)
	}
	return place, true
}

// close drops everything, for good.
func (l *leftovers) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.spans, l.buf = true, nil, nil
}
