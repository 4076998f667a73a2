package driver

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoWorkerID matches every *NoWorkerIDError.
	ErrNoWorkerID = errors.New("worker: no number is free")
	// ErrNotHeld is returned by Renew, Release and Admin.Free if the worker ID is not, or no
	// longer, held under the fencing token and claim ID of the request.
	ErrNotHeld = errors.New("worker: the number is not held under this token any more")
)

// A NoWorkerIDError is returned by Claim if no worker ID can be claimed now. It matches
// ErrNoWorkerID.
type NoWorkerIDError struct {
	Namespace string
	WorkerIDs int64         // the number of candidates: all of the namespace, or 1 with RequirePreferred
	Leased    int64         // of those, how many are leased
	Ahead     int64         // how many are free, but start further ahead of the clock than Config.MaxLead
	Wait      time.Duration // until the first may be free, unless it is renewed or released; 0: unknown
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

// A SkewError is returned by Claim if the clocks of the claimant and of the store are too
// far apart. Leases that are already held are not affected.
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

// A LayoutError is returned by Claim if the namespace was made for another layout, or for
// another datacenter: ids of two layouts may be equal under different worker IDs.
type LayoutError struct {
	Namespace string
	Have      string // the fingerprint that the namespace keeps
	Want      string // the fingerprint of the request
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("worker: space %q is of the layout %q and not of %q: configure the same layout and Datacenter, or another space: for another datacenter, or for ids that never meet these", e.Namespace, e.Have, e.Want)
}

// A DurabilityError is returned by Claim if a setting of the store lets it lose a write
// that it has acknowledged.
type DurabilityError struct {
	Setting string // "appendfsync"
	Value   string // "everysec"
	Want    string // "always"
}

func (e *DurabilityError) Error() string {
	return fmt.Sprintf("worker: the store has %s = %s and may lose an acknowledged write, which makes duplicates possible: set it to %s, or allow it with AllowDataLoss", e.Setting, e.Value, e.Want)
}

// A CounterExhaustedError is returned if a counter has given out all worker IDs of a
// layout. A counter never starts again, because the holder of worker ID 0 may still run.
type CounterExhaustedError struct {
	Name      string
	WorkerIDs int64 // how many the layout has
}

func (e *CounterExhaustedError) Error() string {
	return fmt.Sprintf("worker: counter %q has given all %d numbers of the layout; use leases, which give numbers back, or, if nobody runs any more and the clocks have not gone back, another counter", e.Name, e.WorkerIDs)
}
