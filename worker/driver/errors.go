package driver

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

var (
	// ErrNoWorkerID matches every *NoWorkerIDError.
	ErrNoWorkerID = errors.New("driver: no worker ID can be claimed")
	// ErrNotHeld is returned by Renew, Release and Admin.Free if the worker ID is not, or no
	// longer, held under the fencing token and claim ID of the request.
	ErrNotHeld = errors.New("driver: the worker ID is not held under this claim any more")
)

// A NoWorkerIDError is returned by Claim if no worker ID can be claimed now. It matches
// ErrNoWorkerID.
type NoWorkerIDError struct {
	Namespace string
	WorkerIDs int64         // the number of candidates: all of the namespace, or 1 with RequirePreferred
	Leased    int64         // of those, how many are leased
	Ahead     int64         // how many are free, but start further ahead of the clock than Config.MaxLead, see there
	Wait      time.Duration // until the first may be free, unless it is renewed or released; 0: unknown
}

func (e *NoWorkerIDError) Error() string {
	text := fmt.Sprintf("worker: all %s worker IDs in namespace %q are leased", grouped(e.WorkerIDs), e.Namespace)
	switch {
	case e.WorkerIDs == 1 && e.Leased == 1:
		text = fmt.Sprintf("worker: the only worker ID that will do in namespace %q is leased", e.Namespace)
	case e.Leased < e.WorkerIDs:
		text = fmt.Sprintf("worker: no worker ID in namespace %q can be claimed: of %s, %s are leased", e.Namespace, grouped(e.WorkerIDs), grouped(e.Leased))
	}
	if e.Ahead > 0 {
		text += fmt.Sprintf(", and %s would start further ahead of the clock than MaxLead, because the clock of a former holder was fast, or because holders crashed one after another, each within its FenceWindow; wait, raise MaxLead, or let TTL be at least FenceWindow", grouped(e.Ahead))
	}
	if e.Wait > 0 {
		text += fmt.Sprintf("; the next may be free in %v", e.Wait)
	}
	return text
}

// grouped writes 1024 as 1,024.
func grouped(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
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
	return fmt.Sprintf("worker: this machine's clock shows %s and the store's %s, %v apart; at most %v is allowed: set the clock that is wrong, or raise MaxSkew",
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
	return fmt.Sprintf("worker: namespace %q has the layout %q, not %q: configure its Layout and Datacenter, or another namespace", e.Namespace, e.Have, e.Want)
}

// A DurabilityError is returned by Claim, and by Renew in stores that check each write, if a
// setting of the store lets it lose a write that it has acknowledged.
type DurabilityError struct {
	Setting string // "appendfsync"
	Value   string // "everysec"
	Want    string // "always"
}

func (e *DurabilityError) Error() string {
	return fmt.Sprintf("worker: the store has %s = %s and may lose an acknowledged write, which can lead to duplicate ids: set it to %s, or allow it with AllowDataLoss", e.Setting, e.Value, e.Want)
}

// A CounterExhaustedError is returned if a counter has given out all worker IDs of a
// layout. A counter never starts again, because the holder of worker ID 0 may still run.
type CounterExhaustedError struct {
	Name      string
	WorkerIDs int64 // how many the layout has
}

func (e *CounterExhaustedError) Error() string {
	return fmt.Sprintf("worker: counter %q has given out all %s worker IDs of the layout: use leases, which reuse worker IDs, or, if none of its processes runs any more, another counter", e.Name, grouped(e.WorkerIDs))
}

// Permanent marks an error as not retryable, such as a wrong password:
// worker.Open then returns it at once. The text does not change, and nil stays nil.
// Any error with a method Permanent() bool that returns true has the same effect.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

type permanent struct{ error }

func (p permanent) Permanent() bool { return true }

func (p permanent) Unwrap() error { return p.error }

// IsPermanent reports whether a retry cannot mend the error: it was marked by Permanent, or
// is a *core.ConfigError, *SkewError, *LayoutError, *DurabilityError or
// core.ErrTimestampExhausted.
func IsPermanent(err error) bool {
	var marked interface{ Permanent() bool }
	if errors.As(err, &marked) && marked.Permanent() {
		return true
	}
	var config *core.ConfigError
	var skew *SkewError
	var layout *LayoutError
	var durability *DurabilityError
	return errors.As(err, &config) || errors.As(err, &skew) || errors.As(err, &layout) || errors.As(err, &durability) || errors.Is(err, core.ErrTimestampExhausted)
}
