package worker

import (
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/backoff"
)

// A retry delays the attempts at one request. The zero value is due at once.
type retry struct {
	failures int // in a row
	since    time.Time
	last     time.Time
	at       time.Time // when the next attempt is due
	err      error     // why the last one failed
}

// maxDelay is the longest delay before a request that may succeed is repeated.
const maxDelay = 500 * time.Millisecond

// failed notes a failure. The next attempt is due after a random delay that doubles
// with each failure, up to longest.
func (r *retry) failed(err error, longest time.Duration, random func() float64) {
	now := time.Now()
	if r.failures++; r.failures == 1 {
		r.since = now
	}
	r.last = now
	r.err = err
	r.at = now.Add(backoff.Backoff{Max: longest, Rand: random}.Delay(r.failures))
}

// waiting reports whether the next attempt is delayed because the last one failed.
func (r *retry) waiting() bool { return r.failures > 0 && time.Now().Before(r.at) }

// A RetryError says which request of a lease to its store fails, since when, and why. The
// lease repeats it half a second after a failure at the latest, or, while the clocks are too
// far apart, after Config.RenewInterval.
type RetryError struct {
	Op        string // the request: "renew", "claim" or "compare the clocks"
	Namespace string
	Worker    int64     // the worker ID that ids are issued under
	Failures  int       // in a row
	Since     time.Time // when the first of them failed
	Err       error     // why the last one failed
}

func (e *RetryError) Error() string {
	return fmt.Sprintf("worker: lease of worker ID %d in namespace %q: cannot %s since %s, tried %d times: %v", e.Worker, e.Namespace, e.Op, show(e.Since), e.Failures, e.Err)
}

// Unwrap returns why the last attempt failed.
func (e *RetryError) Unwrap() error { return e.Err }
