package worker

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A call is one request to the store.
type call struct {
	kind       callKind
	assignment *assignment    // what is renewed or released
	request    driver.Request // what is claimed
	known      *driver.Claim  // what another call with the same claim ID was granted; the same answer to this one is no new claim
	fence      int64          // what a renewal asks for
	ask        func(ctx context.Context) (driver.Claim, error)

	began    time.Time // zero: it was not made
	deadline time.Time
	ctx      context.Context
	cancel   context.CancelFunc
	status   callStatus
}

type callKind uint8

const (
	claimCall callKind = iota
	renewCall
	releaseCall
)

func (k callKind) String() string { return [...]string{"claim", "renewal", "release"}[k] }

// A callStatus says what the lease expects of a call.
type callStatus uint8

const (
	pending callStatus = iota
	late               // it was not answered in time, so it counts as failed, but it may still be answered
)

// An answer is the store's answer to a call.
type answer struct {
	call  *call
	claim driver.Claim
	err   error
}

// A notSentError is why a claim was not sent: the requests of other leases fail.
type notSentError struct{ error }

func (e notSentError) Unwrap() error { return e.error }

func notSent(err error) bool {
	var not notSentError
	return errors.As(err, &not)
}

// A limiter limits the requests of the leases that share a store; see driver.Limiter.
type limiter interface {
	Limit(ctx context.Context, last *atomic.Bool, kind any, ask func() error) (sent bool, err error)
}

// A requests is what the lease has asked the store.
type requests struct {
	calls      []*call     // not answered yet
	answers    []answer    // not handled by the owner yet
	lastFailed atomic.Bool // the last request that was made; of the limiter
}

// busy reports whether a call is under way that is not late.
func (r *requests) busy() bool {
	return slices.ContainsFunc(r.calls, func(c *call) bool { return c.status == pending })
}

// A claiming is the claim that the lease makes, or the next one.
type claiming struct {
	state    claimState
	request  driver.Request // zero: noClaim
	retry    retry
	rotation rotation      // why another worker ID is claimed, although the lease has one
	began    time.Time     // of acquire
	first    chan struct{} // closed when the first claim has its outcome
	expiry   time.Time     // with RequirePreferred: when the worker ID's present claim expires
}

// A claimState says what is known of a claim.
type claimState uint8

const (
	noClaim      claimState = iota
	claimSent               // its first attempt is under way
	claimUnknown            // an attempt was not answered, so it may have been granted: the next attempt repeats it
)

// set notes the claim that the lease makes. With noClaim, r is zero.
func (c *claiming) set(s claimState, r driver.Request) { c.state, c.request = s, r }

// resolves reports whether a claim of unknown outcome is to be repeated, only to be released.
func (c *claiming) resolves() bool { return c.state != noClaim && c.retry.failures <= maxResolves }

// maxResolves limits how often a claim is repeated only to be released.
const maxResolves = 5

// A rotation is a generator's request for another worker ID.
type rotation struct {
	reason core.RegrantReason
	since  time.Time // of the first call
	last   time.Time // of the last call
}

// rotationLasts is how long a rotation is valid after the generator's last call.
const rotationLasts = time.Second
