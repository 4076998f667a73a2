package worker

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var (
	// ErrNoWorkerID matches every *NoWorkerIDError.
	ErrNoWorkerID = driver.ErrNoWorkerID
	// ErrLost matches every *LostError.
	ErrLost = errors.New("worker: number lost")
	// ErrReleased is returned by a lease, and to its generator, after Release.
	ErrReleased = errors.New("worker: lease was released; acquire another one")
)

// The errors of a store, which Acquire returns.
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

// A LostError says that another holder has the worker ID now, because it was not renewed
// for its whole time to live. Ids issued under it are unique all the same. It matches
// ErrLost.
type LostError struct {
	Namespace string
	Worker    int64
	Fence     time.Time // no id of this lease carries that time or a later one
	Err       error     // the store's error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("worker: number %d of space %q is lost, ids under it end before %s: %v; the lease claims another number by itself, or, with StopOnLoss, acquire another lease", e.Worker, e.Namespace, show(e.Fence), e.Err)
}

// Is reports whether the target is ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// Unwrap returns the store's error.
func (e *LostError) Unwrap() error { return e.Err }

func show(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// configError is a *core.ConfigError with one field.
func configError(field string, value any, reason string, args ...any) error {
	var wrong fields.Errors
	wrong.Add(field, value, reason, args...)
	return wrong.Err("worker")
}
