//go:build unix

package torture

import (
	"context"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// unfenced is what most do: a number that is held as long as it is renewed in time,
// and ids that go by the clock alone. It takes its numbers from a lease, and knows
// nothing of the lease's bound. When it learns that a number is lost it stops to use
// it.
type unfenced struct {
	lease *worker.Lease

	mu      sync.Mutex
	current *core.Grant
}

// Grant implements core.Worker.
func (u *unfenced) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	fence, err := u.lease.Grant(ctx, prev)
	if err != nil {
		return nil, err
	}
	_ = fence // this is what it leaves out
	u.mu.Lock()
	defer u.mu.Unlock()
	u.current, err = core.NewGrant(u.lease.Layout(), u.lease.Worker(), time.Time{}, time.Time{})
	return u.current, err
}

// Observe implements worker.Observer.
func (u *unfenced) Observe(e worker.Event) {
	if e.Kind != worker.Lost {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.current != nil {
		u.current.Revoke(e.Err)
	}
}
