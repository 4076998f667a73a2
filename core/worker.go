package core

import (
	"context"
	"fmt"
)

// A Worker is where a generator gets its right to issue from. New asks for the
// first grant with a nil prev. A generator that needs another asks again, with
// the grant it has; prev.Asked says why. If prev is used up, Grant may return
// prev itself once its end has risen. Grant must not hand the same number to
// two holders, and it must return when its context is done: who waits for an id
// waits for it.
//
// When the generator is closed, has gone on under another grant, or did not take
// the one it was given, that grant's Done channel is closed. A Worker that wraps
// another closes what it does not pass on.
type GrantSource interface {
	Grant(ctx context.Context, prev *Grant) (*Grant, error)
}

// Fixed is a worker number that somebody else has made sure is used once: a
// configuration file, say. In a layout with a datacenter field it is
// datacenter<<WorkerBits | worker. [New] checks it against the layout.
//
// It is a grant without end and without a memory on disk: see the package's
// documentation for what that means at a restart. The value serves one
// generator at a time, each above the one before it: a second New with it is
// [ErrInUse] until the first is closed.
func Fixed(worker int64) GrantSource { return &fixed{number: worker} }

type fixed struct {
	number  int64
	current singleGrant
}

func (f *fixed) Grant(_ context.Context, prev *Grant) (*Grant, error) {
	if prev != nil {
		return nil, fmt.Errorf("core: Fixed(%d) has no other number to give: %w", f.number, ErrLost)
	}
	return f.current.replace(f.number)
}
