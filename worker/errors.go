package worker

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var (
	// ErrNoWorkerID matches every *NoWorkerIDError.
	ErrNoWorkerID = driver.ErrNoWorkerID
	// errReleased is why a lease is over after Release.
	errReleased = errors.New("worker: the lease was released")
)

// The errors of a store, which Open returns.
type (
	// A NoWorkerIDError is returned if no worker ID can be claimed now.
	NoWorkerIDError = driver.NoWorkerIDError
	// A SkewError is returned if the clocks of this machine and of the store are too far apart.
	SkewError = driver.SkewError
	// A LayoutError is returned if the namespace was made for another layout or datacenter.
	LayoutError = driver.LayoutError
	// A DurabilityError is returned if the store may lose a write that it has acknowledged.
	DurabilityError = driver.DurabilityError
	// A CounterExhaustedError is returned if a counter has given out all worker IDs.
	CounterExhaustedError = driver.CounterExhaustedError
)

// A LostError says that another holder has the worker ID now, because the lease did not
// renew it in time, or an operator freed it. Ids issued under it are unique all the same.
// It matches core.ErrLost.
type LostError struct {
	Namespace string
	Worker    int64
	Fence     time.Time // no id of this lease carries that time or a later one
	Err       error     // the store's error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("worker: worker ID %d of namespace %q is lost; its ids end before %s: %v", e.Worker, e.Namespace, show(e.Fence), e.Err)
}

// Is reports whether the target is core.ErrLost.
func (e *LostError) Is(target error) bool { return target == core.ErrLost }

// Unwrap returns the store's error.
func (e *LostError) Unwrap() error { return e.Err }

func show(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
