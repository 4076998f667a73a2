// Package hung lets a call return when its context is done, even if the client below ignores
// contexts: a driver that has only its own deadlines, or a disk that hangs. Each lease store
// and each caller of a foreign one uses it once, at the boundary.
package hung

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	callGrace     = 100 * time.Millisecond // how long a call may take to return after its context is done
	maxInARow     = 16                     // calls abandoned in a row before others are probes
	probeInterval = 4 * time.Second        // between probes: ids are back 5 s after the client answers again
	maxAbandoned  = 256                    // the most abandoned calls under way
)

// Calls counts the calls of one client that [Do] has abandoned and that have not returned
// yet. The zero value is ready for use.
type Calls struct {
	mu        sync.Mutex
	abandoned int       // calls under way
	before    int       // those of them that were abandoned before the last call that returned in time
	probed    time.Time // when the last probe began
}

// begin returns an error if another call might hang too.
func (c *Calls) begin(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch {
	case c.abandoned >= maxAbandoned:
	case c.abandoned-c.before < maxInARow:
		return nil
	case now.Sub(c.probed) >= probeInterval:
		c.probed = now
		return nil
	}
	return fmt.Errorf("%s: %d earlier requests have not returned, although their contexts are done: "+
		"the client hangs, or ignores contexts", what, c.abandoned)
}

// A running call ends in one of two ways, whichever comes first: it returns, or it is abandoned.
type running struct {
	calls     *Calls
	returned  bool
	abandoned bool
}

// end notes that the call has returned.
func (r *running) end() {
	r.calls.mu.Lock()
	defer r.calls.mu.Unlock()
	r.returned = true
	if r.abandoned {
		r.calls.abandoned--
		r.calls.before = min(r.calls.before, r.calls.abandoned)
		return
	}
	r.calls.before = r.calls.abandoned
}

// abandon reports whether the call has not returned.
func (r *running) abandon() bool {
	r.calls.mu.Lock()
	defer r.calls.mu.Unlock()
	if r.returned {
		return false
	}
	r.abandoned = true
	r.calls.abandoned++
	return true
}

var errGoexit = errors.New("the client ended its goroutine")

// Do calls f in a new goroutine and returns its result. If f has not returned 100 ms
// after ctx is done, Do abandons it and returns the error of ctx after the text what; the
// result of f is dropped. When 16 calls in a row were abandoned, and none of them has returned
// since, Do makes one call every 4 s, and others fail at once; when one has returned in time,
// Do makes all calls again. While 256 abandoned calls have not returned, all calls fail at
// once. A panic of f becomes an error, and so does runtime.Goexit.
func Do[T any](ctx context.Context, c *Calls, what string, f func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if err := c.begin(what); err != nil {
		return none, err
	}
	type outcome struct {
		value T
		err   error
	}
	began := time.Now()
	outcomes := make(chan outcome, 1)
	call := running{calls: c}
	go func() {
		o := outcome{err: errGoexit}
		defer func() {
			if p := recover(); p != nil { // the caller is in another goroutine and could not
				o = outcome{err: fmt.Errorf("the client panicked: %v", p)}
			}
			call.end()
			outcomes <- o
		}()
		o.value, o.err = f()
	}()
	done, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case o := <-outcomes:
			return o.value, o.err
		case <-done:
			done, late = nil, time.After(callGrace)
		case <-late: // if it has just returned, its outcome comes next
			if call.abandon() {
				return none, fmt.Errorf("%s: no answer in %v, and the client ignores its context: %w",
					what, time.Since(began).Round(time.Millisecond), ctx.Err())
			}
		}
	}
}
