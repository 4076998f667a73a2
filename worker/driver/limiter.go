package driver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A ClaimLimiter limits the rate of claims of the leases that share a store. While the
// store refuses claims or fails, these leases make four claims a second together, and
// share the answers. A store embeds a ClaimLimiter by value; the zero value is ready for
// use. A wrapper that embeds a pointer to such a store shares its limiter.
type ClaimLimiter struct {
	mu    sync.Mutex
	lines map[any]*line
}

const (
	claimSpacing = 250 * time.Millisecond // one claim of a line is made in this time
	claimBurst   = 4                      // as many may be made at once, so that a single lease never waits
	lineKept     = time.Minute            // how long a line is kept after its last claim
)

// A line is where claims of one kind wait. It is made when the first of them fails.
type line struct {
	may     int       // how many claims may be made now
	since   time.Time // when the last one was added to them
	used    time.Time
	failing bool  // the last claim failed and was not refused
	next    *turn // of the claim that is made next
}

// A turn is one claim, whose outcome is shared by those who began to wait before it was made.
type turn struct {
	done chan struct{} // closed when it was answered
	err  error         // nil: a worker ID was granted, and there may be more
}

// LimitClaims is for package worker. It calls ask, or returns the error of a claim that another lease made after this call
// began, so that a worker ID which was free by then is found. sent reports whether ask was
// called.
//
// A repeated claim, whose first answer was lost, may have been granted. That the store
// refuses another claim proves nothing about it, so it shares failures only.
func (q *ClaimLimiter) LimitClaims(ctx context.Context, kind any, repeated bool, ask func() (Claim, error)) (c Claim, sent bool, err error) {
	var other *turn
	for {
		own, next, wait := q.enter(kind, repeated)
		if own != nil {
			c, err = ask()
			q.answered(kind, own, err)
			return c, true, err
		}
		if other == nil {
			other = next
		}
		timer := time.NewTimer(wait)
		select {
		case <-other.done:
			if other.err != nil && (!repeated || !errors.Is(other.err, ErrNoWorkerID)) {
				return Claim{}, false, other.err
			}
			other = nil
		case <-timer.C:
		case <-ctx.Done():
			return Claim{}, false, ctx.Err()
		}
	}
}

// enter returns a turn of the caller's own; or the turn of the next claim, and how long
// until a claim may be made.
func (q *ClaimLimiter) enter(kind any, repeated bool) (own, next *turn, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[kind]
	if l == nil {
		return newTurn(), nil, 0
	}
	now := time.Now()
	l.used = now
	if since := now.Sub(l.since); since >= claimSpacing {
		l.may = max(l.may, min(l.may+int(since/claimSpacing), claimBurst))
		l.since = now.Add(-since % claimSpacing)
	}
	switch {
	case repeated && !l.failing:
	case l.may > 0:
		l.may--
	default:
		return nil, l.next, l.since.Add(claimSpacing).Sub(now)
	}
	own, l.next = l.next, newTurn()
	return own, nil, 0
}

func newTurn() *turn { return &turn{done: make(chan struct{})} }

// answered ends a turn.
func (q *ClaimLimiter) answered(kind any, own *turn, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	l := q.lines[kind]
	if l == nil && err != nil && !IsPermanent(err) {
		for other, l := range q.lines {
			if now.Sub(l.used) > lineKept {
				delete(q.lines, other)
			}
		}
		if q.lines == nil {
			q.lines = make(map[any]*line)
		}
		l = &line{may: claimBurst, since: now, used: now, next: newTurn()}
		q.lines[kind] = l
	}
	if l != nil {
		l.failing = err != nil && !errors.Is(err, ErrNoWorkerID)
		if err == nil { // there may be more: they are claimed soon
			l.may += 2
		} else {
			l.may = min(l.may, claimBurst)
		}
	}
	own.err = err
	close(own.done)
}
