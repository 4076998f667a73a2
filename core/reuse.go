package core

import "sync"

// leftovers are the places that a run has passed over, in spans from old to
// new. They belong to one run and end with it.
type leftovers struct {
	mu     sync.Mutex
	spans  []span
	closed bool
}

type span struct{ from, to uint64 }

const maxSpans = 1 << 16 // as many ticks that each left something; older ones are forgotten

// add records [from, to), less what lies before `oldest`, and forgets what does.
// It is called by whoever has moved the word across it, so no other can own it.
func (l *leftovers) add(from, to, oldest uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(oldest)
	if from = max(from, oldest); from < to && !l.closed {
		if len(l.spans) == maxSpans {
			l.spans = append(l.spans[:0], l.spans[maxSpans/2:]...)
		}
		l.spans = append(l.spans, span{from, to})
	}
}

// forget drops what lies before oldest. Swaps are recorded a little out of
// order when goroutines race, so it looks at the head only: what hides behind
// it goes with the next call.
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
	if l.closed {
		return 0, false
	}
	l.forget(oldest)
	best := -1
	for i, s := range l.spans {
		if s.to > from {
			best = i
			break
		}
	}
	if best < 0 {
		if best = len(l.spans) - 1; best < 0 || l.spans[best].to <= oldest {
			return 0, false
		}
		l.spans[best].to--
		place = l.spans[best].to
	} else if s := &l.spans[best]; s.from < from { // keep what lies before it for later
		place = from
		before := span{s.from, from}
		s.from = from + 1
		l.spans = append(l.spans[:best], append([]span{before}, l.spans[best:]...)...)
		best++
	} else {
		place = s.from
		s.from++
	}
	if s := l.spans[best]; s.from >= s.to {
		l.spans = append(l.spans[:best], l.spans[best+1:]...)
	}
	return place, true
}

// close drops everything, for good.
func (l *leftovers) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.spans = true, nil
}
