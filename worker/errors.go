package worker

import (
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// constError lets the sentinels below be constants, which no importer can overwrite.
type constError string

func (e constError) Error() string { return string(e) }

// Errors to test for with errors.Is.
const (
	// ErrNoWorkerID is what a *NoWorkerIDError is.
	ErrNoWorkerID = constError("worker: no number is free")
	// ErrNotHeld is returned by a store when a number is not, or no longer, held
	// under the epoch and token given.
	ErrNotHeld = constError("worker: the number is not held under this token any more")
	// ErrLost is what a *LostError is.
	ErrLost = constError("worker: number lost")
	// ErrReleased is returned by a lease, and to its generator, after Release.
	ErrReleased = constError("worker: lease was released; acquire another one")
)

// configError is nil where there is no fault.
func configError(faults []core.FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	return &core.ConfigError{Package: "worker", Fields: faults}
}

// NoWorkerIDError is returned when a space has no number to give. It is an ErrNoWorkerID.
type NoWorkerIDError struct {
	Namespace string
	WorkerIDs int64         // how many were looked at: all the space has, or the one that would do
	Leased    int64         // of those, how many have a holder
	Ahead     int64         // how many are free, and begin farther ahead of the clock than Config.MaxLead
	Wait      time.Duration // when the first may be free, if nothing is renewed or released; 0: not known
}

func (e *NoWorkerIDError) Error() string {
	text := fmt.Sprintf("worker: no number is free in space %q: of %d, %d are held", e.Namespace, e.WorkerIDs, e.Leased)
	if e.Ahead > 0 {
		text += fmt.Sprintf(" and %d begin too far ahead of the clock, left by a holder whose clock was fast", e.Ahead)
	}
	if e.Wait > 0 {
		text += fmt.Sprintf("; the next may be free in %v", e.Wait)
	}
	return text + "; wait, end a holder that is not needed, or use a layout with more worker bits in a space of its own"
}

// Is reports whether the target is ErrNoWorkerID.
func (e *NoWorkerIDError) Is(target error) bool { return target == ErrNoWorkerID }

// SkewError is returned when the clocks of this machine and of the store lie
// too far apart for a new grant. Grants that are held are not touched by it.
type SkewError struct {
	Local time.Time
	Store time.Time
	Max   time.Duration // Config.MaxSkew
}

func (e *SkewError) Error() string {
	return fmt.Sprintf("worker: this machine's clock shows %s and the store's %s, %v apart; at most %v is allowed: set the one that is wrong, or raise MaxSkew",
		show(e.Local), show(e.Store), e.Local.Sub(e.Store).Abs(), e.Max)
}

func show(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// LayoutError is returned when a space belongs to another layout: ids of two
// layouts may be equal under different numbers. Or it is another datacenter's, see
// Config.Datacenter, which is told behind the layout.
type LayoutError struct {
	Namespace string
	Have      string // what the space was made for
	Want      string // what was asked for
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("worker: space %q is of the layout %q and not of %q: configure the same layout and Datacenter, or another space: for another datacenter, or for ids that never meet these", e.Namespace, e.Have, e.Want)
}

// LostError says that somebody else holds the number now, as happens when it was
// not renewed for its whole time to live. Ids issued under it are unique all the
// same. It is an ErrLost.
type LostError struct {
	Namespace string
	Worker    int64
	Fence     time.Time // no id of this lease carries that time or a later one
	Err       error     // what the store said
}

func (e *LostError) Error() string {
	return fmt.Sprintf("worker: number %d of space %q is lost, ids under it end before %s: %v; the lease claims another number by itself, or, with StopOnLoss, acquire another lease", e.Worker, e.Namespace, show(e.Fence), e.Err)
}

// Is reports whether the target is ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// Unwrap is what the store said.
func (e *LostError) Unwrap() error { return e.Err }

// DurabilityError is returned by a store that may forget what it has acknowledged:
// uniqueness rests on it that it does not.
type DurabilityError struct {
	Setting string // "appendfsync"
	Value   string // "everysec"
	Want    string // "always"
}

func (e *DurabilityError) Error() string {
	return fmt.Sprintf("worker: the store has %s = %s and may lose an acknowledged write, which makes duplicates possible: set it to %s, or allow it with AllowDataLoss", e.Setting, e.Value, e.Want)
}

// UsedUpError is returned by FromCounter when a counter has passed the last
// number: it never begins anew, for a holder of number 0 may still be there.
type CounterExhaustedError struct {
	Name      string
	WorkerIDs int64 // how many the layout has
}

func (e *CounterExhaustedError) Error() string {
	return fmt.Sprintf("worker: counter %q has given all %d numbers of the layout; use leases, which give numbers back, or, if nobody runs any more and the clocks have not gone back, another counter", e.Name, e.WorkerIDs)
}
