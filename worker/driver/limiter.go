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
	mu     sync.Mutex
	queues map[any]*queue
}

const (
	claimInterval = 250 * time.Millisecond // a queue gets one token in this time
	claimBurst    = 4                      // the most tokens of a queue, so that a single lease never waits
	queueKept     = time.Minute            // how long a queue is kept after its last claim
)

// A queue is a token bucket for claims of one kind. It is made when the first of them fails.
type queue struct {
	tokens   int       // how many claims may be made now
	refilled time.Time // when the last token was added
	used     time.Time
	failing  bool     // the last claim failed and was not refused
	next     *attempt // the claim that is made next
}

// An attempt is one claim, whose outcome is shared with the callers that began to wait
// before it was made.
type attempt struct {
	done chan struct{} // closed when it was answered
	err  error         // nil: a worker ID was granted, and there may be more
}

func newAttempt() *attempt { return &attempt{done: make(chan struct{})} }

// LimitClaims is for package worker. It calls ask, or returns the error of a claim that
// another lease made after this call began. An older error says nothing, because a worker ID
// may have become free since. sent reports whether ask was called.
//
// A repeated claim, whose first answer was lost, may have been granted. That the store
// refuses another claim proves nothing about it, so it shares failures only.
func (l *ClaimLimiter) LimitClaims(ctx context.Context, kind any, repeated bool, ask func() (Claim, error)) (c Claim, sent bool, err error) {
	var other *attempt
	for {
		own, next, wait := l.reserve(kind, repeated)
		if own != nil {
			c, err = ask()
			l.finish(kind, own, err)
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

// reserve returns an attempt for the caller; or else the next attempt of another caller,
// and how long until a claim may be made.
func (l *ClaimLimiter) reserve(kind any, repeated bool) (own, next *attempt, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[kind]
	if q == nil {
		return newAttempt(), nil, 0
	}
	now := time.Now()
	q.used = now
	if since := now.Sub(q.refilled); since >= claimInterval {
		q.tokens = max(q.tokens, min(q.tokens+int(since/claimInterval), claimBurst))
		q.refilled = now.Add(-since % claimInterval)
	}
	switch {
	case repeated && !q.failing:
	case q.tokens > 0:
		q.tokens--
	default:
		return nil, q.next, q.refilled.Add(claimInterval).Sub(now)
	}
	own, q.next = q.next, newAttempt()
	return own, nil, 0
}

// finish shares the outcome of an attempt.
func (l *ClaimLimiter) finish(kind any, own *attempt, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	q := l.queues[kind]
	if q == nil && err != nil && !IsPermanent(err) {
		for other, q := range l.queues {
			if now.Sub(q.used) > queueKept {
				delete(l.queues, other)
			}
		}
		if l.queues == nil {
			l.queues = make(map[any]*queue)
		}
		q = &queue{tokens: claimBurst, refilled: now, used: now, next: newAttempt()}
		l.queues[kind] = q
	}
	if q != nil {
		q.failing = err != nil && !errors.Is(err, ErrNoWorkerID)
		if err == nil { // there may be more: they are claimed soon
			q.tokens += 2
		} else {
			q.tokens = min(q.tokens, claimBurst)
		}
	}
	own.err = err
	close(own.done)
}
