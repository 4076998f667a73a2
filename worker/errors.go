package worker

import (
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var (
	// ErrNoWorkerID matches every *NoWorkerIDError.
	ErrNoWorkerID = driver.ErrNoWorkerID
	// ErrForgotten matches the error of the event Forgotten: the store does not know the claim
	// because it was put back to an earlier state.
	ErrForgotten = driver.ErrForgotten
)

// The errors of a store, which Open returns.
type (
	// A NoWorkerIDError is returned if no worker ID can be claimed now.
	NoWorkerIDError = driver.NoWorkerIDError
	// A SkewError is returned if the clocks of this machine and of the store are too far apart.
	SkewError = driver.SkewError
	// A LayoutError is returned if the namespace was made for another layout or datacenter.
	LayoutError = driver.LayoutError
	// A WindowError is returned if the namespace has another FenceWindow or MaxSkew.
	WindowError = driver.WindowError
	// A FloorError is returned if the store was put back to an earlier state twice in a short time.
	FloorError = driver.FloorError
	// A DurabilityError is returned if a counter may lose a number that it has acknowledged.
	DurabilityError = driver.DurabilityError
)

// A CounterExhaustedError is returned by FromCounter if a counter has given out all worker IDs of a
// layout. A counter never starts over, because the holder of worker ID 0 may still run.
type CounterExhaustedError struct {
	Name      string
	WorkerIDs int64 // how many the layout has
}

func (e *CounterExhaustedError) Error() string {
	return fmt.Sprintf("worker: counter %q has given out all %d worker IDs of the layout: use leases, which reuse worker IDs, or, if none of its processes runs any more, another counter", e.Name, e.WorkerIDs)
}

// A RetryError says which request of a lease to its store fails, since when, and why. The
// lease retries it at most half a second after a failure.
type RetryError struct {
	Op        string // the request: "renew" or "claim"
	Namespace string
	Worker    int64     // the worker ID that ids are issued under
	Failures  int       // in a row
	Since     time.Time // when the first of them failed
	Err       error     // why the last one failed
}

func (e *RetryError) Error() string {
	return fmt.Sprintf("worker: lease of worker ID %d in namespace %q: cannot %s since %s, tried %d times: %v", e.Worker, e.Namespace, e.Op, formatTime(e.Since), e.Failures, e.Err)
}

// Unwrap returns why the last attempt failed.
func (e *RetryError) Unwrap() error { return e.Err }

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
