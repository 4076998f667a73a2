package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

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

// A claimState says what is known of the claim that the lease makes.
type claimState uint8

const (
	noClaim      claimState = iota
	claimSent               // its first attempt is under way
	claimUnknown            // an attempt was not answered, so it may have been granted: the next attempt repeats it
)
