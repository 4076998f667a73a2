package core

import (
	"context"
	"fmt"
	"sync"
)

// A GrantSource gives a generator its grants. Package worker implements it with leases.
//
// New calls Grant with a nil prev. A generator that needs another grant calls it with the one
// it has; [Grant.RegrantReason] says why. If prev is exhausted, Grant may return prev itself
// once its fence has risen. Grant must not give the same worker ID to two generators, and must
// return when its context is done, because calls of Next wait for it.
//
// The generator closes a grant that it does not take. A GrantSource that wraps another one
// must close the grants that it does not pass on. See [Grant.Done].
type GrantSource interface {
	Grant(ctx context.Context, prev *Grant) (*Grant, error)
}

// A RegrantReason is why a generator asks its GrantSource for another grant.
type RegrantReason uint8

// The reasons; see [Grant.RegrantReason].
const (
	RegrantNone      RegrantReason = iota // the generator has not asked for another
	RegrantLost                           // the grant was revoked or closed
	RegrantExhausted                      // ids have reached the fence, which has not risen within Config.MaxWait
	RegrantRotate                         // the clock stepped back, and ids are to continue under another worker ID; see Rotate
)

// String describes the reason in words.
func (r RegrantReason) String() string {
	if r > RegrantRotate {
		return "unknown reason"
	}
	return [...]string{"not asked", "grant lost", "grant exhausted", "clock stepped back"}[r]
}

// RegrantReason returns why the generator last asked for a grant in place of this one.
func (g *Grant) RegrantReason() RegrantReason { return RegrantReason(g.reason.Load()) }

// Fixed returns a GrantSource for one worker ID that is known to be free, for example from a
// configuration file. In a layout with a datacenter field it is datacenter<<WorkerBits |
// worker. [New] checks it against the layout.
//
// Its grants have no fence and leave no trace on disk: the package comment says what that
// means for a restart. The value serves one generator at a time, each above the ids of the one
// before: until that is closed, a second New returns [ErrInUse].
func Fixed(worker int64) GrantSource { return &fixed{worker: worker} }

type fixed struct {
	worker int64

	mu   sync.Mutex
	last *Grant
}

func (f *fixed) Grant(_ context.Context, prev *Grant) (*Grant, error) {
	if prev != nil {
		return nil, fmt.Errorf("core: Fixed(%d) has no other worker ID: %w", f.worker, ErrLost)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	next := newGrant(nil, f.worker, 0, noFence)
	if f.last != nil {
		if !f.last.isDone() {
			return nil, ErrInUse
		}
		next.after = f.last.Close()
	}
	f.last = next
	return next, nil
}
