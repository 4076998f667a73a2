package driver

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

var (
	// ErrNoWorkerID matches every *NoWorkerIDError.
	ErrNoWorkerID = errors.New("driver: no worker ID can be claimed")
	// ErrNotHeld is returned by Renew, Release and Admin.Free if the worker ID is not, or no
	// longer, held under the fencing token and claim ID of the request.
	ErrNotHeld = errors.New("driver: the worker ID is not held under this claim any more")
	// ErrForgotten is returned by Renew if the store was put back to an earlier state, and so does
	// not know the claim, or may have granted the worker ID to another claim and forgotten that.
	// It matches ErrNotHeld.
	ErrForgotten = fmt.Errorf("%w: the store was put back to an earlier state", ErrNotHeld)
	// ErrLocked is returned if a transaction outside the store keeps a record locked.
	ErrLocked = errors.New("driver: another transaction keeps the record of the worker ID locked")
)

// A NoWorkerIDError is returned by Claim if no worker ID can be claimed now. It matches
// ErrNoWorkerID.
type NoWorkerIDError struct {
	Namespace string
	WorkerIDs int64         // the number of candidates: all of the namespace, or 1 with RequirePreferred
	Leased    int64         // of those, how many are leased
	Ahead     int64         // how many are free, but would start further ahead of the store's clock than FenceWindow
	Wait      time.Duration // until the first may be free, unless it is renewed or released; 0: unknown
}

func (e *NoWorkerIDError) Error() string {
	text := fmt.Sprintf("worker: all %s worker IDs in namespace %q are leased (a layout with more WorkerBits has more)", groupDigits(e.WorkerIDs), e.Namespace)
	switch {
	case e.WorkerIDs == 1 && e.Leased == 1:
		text = fmt.Sprintf("worker: the required worker ID of namespace %q is leased", e.Namespace)
	case e.Leased < e.WorkerIDs:
		text = fmt.Sprintf("worker: no worker ID in namespace %q can be claimed: of %s, %s are leased", e.Namespace, groupDigits(e.WorkerIDs), groupDigits(e.Leased))
	}
	if e.Ahead > 0 {
		text += fmt.Sprintf(", and %s would start further ahead of the store's clock than FenceWindow, because that clock was fast: wait, or run snowkey workers floor", groupDigits(e.Ahead))
	}
	if e.Wait > 0 {
		text += fmt.Sprintf("; one may be free in %v", e.Wait)
	}
	return text
}

// groupDigits writes 1024 as 1,024.
func groupDigits(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", groupDigits(n/1000), n%1000)
}

// Is reports whether the target is ErrNoWorkerID.
func (e *NoWorkerIDError) Is(target error) bool { return target == ErrNoWorkerID }

// A SkewError is returned by Claim if the clocks of the claimant and of the store are too
// far apart. Leases that are already held are not affected.
type SkewError struct {
	Local time.Time
	Store time.Time
	Max   time.Duration // MaxSkew of the namespace
}

func (e *SkewError) Error() string {
	return fmt.Sprintf("worker: this machine's clock shows %s and the store's %s, %v apart; at most %v is allowed: set the clock that is wrong",
		formatTime(e.Local), formatTime(e.Store), e.Local.Sub(e.Store).Abs(), e.Max)
}

func milliseconds(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

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

// A WindowError is returned by Claim if the namespace has another FenceWindow or MaxSkew. They bound
// what a store may forget, so they must be the same for all generators of a namespace.
type WindowError struct {
	Namespace              string
	HaveWindow, WantWindow int64 // in milliseconds
	HaveSkew, WantSkew     int64
}

func (e *WindowError) Error() string {
	if e.HaveWindow == e.WantWindow {
		return fmt.Sprintf("worker: namespace %q has MaxSkew %v, not %v: configure that", e.Namespace, milliseconds(e.HaveSkew), milliseconds(e.WantSkew))
	}
	return fmt.Sprintf("worker: namespace %q has FenceWindow %v, not %v: configure that, or run snowkey workers window %[3]v to change it for all generators", e.Namespace, milliseconds(e.HaveWindow), milliseconds(e.WantWindow))
}

// A FloorError is returned by Claim if the store has forgotten again while the floor of the
// namespace was still far ahead of the clock, or if it has just started and might forget a floor.
// Claims are possible after Wait.
type FloorError struct {
	Namespace string
	Floor     int64 // 0: the store has just started
	Wait      int64 // in milliseconds
}

func (e *FloorError) Error() string {
	if e.Floor == 0 {
		return fmt.Sprintf("worker: the store of namespace %q has just started and keeps nothing over a crash, so it could forget which ids are used: claims are possible in %v",
			e.Namespace, milliseconds(e.Wait))
	}
	return fmt.Sprintf("worker: the store of namespace %q was put back to an earlier state again, and its floor is still at %s: claims are possible in %v, or after snowkey workers floor",
		e.Namespace, formatTime(time.UnixMilli(e.Floor)), milliseconds(e.Wait))
}

// A DurabilityError is returned by a counter if a setting of its store lets it lose a write that
// it has acknowledged.
type DurabilityError struct {
	Setting string // "appendfsync"
	Value   string // "everysec"
	Want    string // "always"
}

func (e *DurabilityError) Error() string {
	return fmt.Sprintf("worker: the store has %s = %s and may lose an acknowledged write, which can lead to duplicate numbers: set it to %s, or allow it with AllowDataLoss", e.Setting, e.Value, e.Want)
}

// Permanent marks an error as not retryable, such as a wrong password:
// worker.Open then returns it at once. The error text does not change, and nil stays nil.
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

// IsPermanent reports whether the error is not retryable: it was marked by Permanent, or is a
// *core.ConfigError, *SkewError, *LayoutError, *WindowError, *DurabilityError or
// core.ErrTimestampExhausted.
func IsPermanent(err error) bool {
	var marked interface{ Permanent() bool }
	if errors.As(err, &marked) && marked.Permanent() {
		return true
	}
	return errors.As(err, new(*core.ConfigError)) || errors.As(err, new(*SkewError)) || errors.As(err, new(*LayoutError)) ||
		errors.As(err, new(*WindowError)) || errors.As(err, new(*DurabilityError)) || errors.Is(err, core.ErrTimestampExhausted)
}
