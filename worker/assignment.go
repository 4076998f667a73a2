package worker

import (
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/backoff"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// An assignment is a claim of a worker ID that the store has granted, and the grant made
// of it.
type assignment struct {
	claim   driver.Claim
	claimID string
	grant   *core.Grant // replaced by regrant
	clock   *hybridClock
	fence   int64     // the highest that the store has acknowledged
	renewAt time.Time // when the next renewal is due
	renewed time.Time // when it was claimed, or renewed last
	lost    error     // why the claim no longer has the worker ID; nil: it has
	retry   retry     // of its renewal while it is current, and then of its release

	releaseSent bool // the store was asked to release it
}

// newAssignment makes an assignment of a claim. If the claim does not match the request, or
// begins beyond the layout's time, it returns an error, and an assignment that only needs to be
// released. That is nil if nothing in the store's answer can be relied upon.
func newAssignment(cfg *Config, r driver.Request, c driver.Claim) (*assignment, error) {
	a := &assignment{claim: c, claimID: r.ClaimID, fence: c.Fence, renewed: time.Now()}
	err := r.CheckClaim(c)
	if d := cfg.Datacenter; d != nil && c.Worker>>cfg.Layout.WorkerBits != *d {
		err = fmt.Errorf("worker: the store's claim does not match the request: worker ID %d is not of datacenter %d", c.Worker, *d)
	}
	if err != nil {
		if c.Fence <= c.From || c.Fence-c.From > r.FenceWindow {
			return nil, err // a release could lower the fence below ids; the claim expires instead
		}
		a.claim.From = c.Fence // none of its time is given back
	} else if a.grant, err = core.NewGrant(cfg.Layout, c.Worker, time.UnixMilli(c.From), time.UnixMilli(c.Fence)); err != nil {
		err = fmt.Errorf("worker: worker ID %d: %w", c.Worker, err)
	}
	if err != nil {
		a.grant, _ = core.NewGrant(cfg.Layout, 0, time.Time{}, time.Time{}) // worker ID 0 without times cannot fail
		a.grant.Close()
		return a, err
	}
	// A claim that was found again may be old, and its interval past. So the clock begins no
	// earlier than the claimant's, and a renewal follows at once.
	a.clock = &hybridClock{wall: cfg.Now, start: time.Now(), base: time.UnixMilli(max(c.From, r.Now))}
	a.renewAt = time.Now().Add(cfg.renewIn())
	return a, nil
}

// left is how long ids can be issued below the fence.
func (a *assignment) left() time.Duration {
	now, _ := a.clock.read()
	return max(time.UnixMilli(a.fence).Sub(now), 0)
}

// regrant replaces the grant by one of the part of the interval that it has not used.
func (a *assignment) regrant(l core.Layout) error {
	from, fence := a.grant.Close(), time.UnixMilli(a.fence)
	if from.After(fence) { // the last tick is used up, and ends after the fence
		fence = from
	}
	grant, err := core.NewGrant(l, a.claim.Worker, from, fence)
	if err != nil {
		return fmt.Errorf("worker: worker ID %d: %w", a.claim.Worker, err)
	}
	a.grant = grant
	return nil
}

func done(g *core.Grant) bool {
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
}

// maxJump is the largest jump ahead of the wall clock that is followed at once. After a
// larger one, as when a machine wakes up, the store's clock is asked first.
const maxJump = time.Minute

// A hybridClock is the wall clock, except that it never goes back: it then continues on
// the monotonic clock. It determines how much time a lease asks the store for, never
// whether an id is unique.
type hybridClock struct {
	wall  func() time.Time
	start time.Time // with its monotonic reading
	base  time.Time // what the clock showed at start, without a monotonic reading
}

// read returns the time, and how far the wall clock is ahead of it: more than maxJump, or
// zero, because smaller jumps are followed.
func (c *hybridClock) read() (now time.Time, ahead time.Duration) {
	now = c.base.Add(time.Since(c.start))
	if ahead = c.wall().Round(0).Sub(now); ahead > maxJump {
		return now, ahead
	}
	c.base = c.base.Add(max(ahead, 0))
	return now.Add(max(ahead, 0)), 0
}

// follow follows the wall clock ahead, however large the jump.
func (c *hybridClock) follow() {
	now, ahead := c.read()
	c.atLeast(now.Add(ahead))
}

// atLeast sets the clock to a time, if that is later than what it shows.
func (c *hybridClock) atLeast(t time.Time) bool {
	now, _ := c.read()
	if !t.After(now) {
		return false
	}
	c.start, c.base = time.Now(), t.Round(0)
	return true
}

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
