//go:build unix

package torture

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// unfenced is the usual way: a worker ID is held as long as it is renewed in time, and ids
// depend on the clock alone. It takes its worker IDs from a leased generator, which issues no
// ids, and ignores the lease's fence. When it learns that a worker ID is lost, it stops using it.
type unfenced struct {
	leased *worker.Generator

	mu      sync.Mutex
	current *core.Grant
	lost    error // why the worker ID is not to be used
}

// Grant implements core.GrantSource.
func (u *unfenced) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	id := u.leased.Worker() // not under the lock: Observe takes it
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lost != nil {
		return nil, u.lost
	}
	if u.current != nil && u.current != prev && !isDone(u.current) {
		return nil, core.ErrInUse
	}
	grant, err := core.NewGrant(u.leased.Layout(), id, time.Time{}, time.Time{})
	if err != nil {
		return nil, err
	}
	u.current = grant
	return grant, nil
}

func isDone(g *core.Grant) bool {
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
}

// Observe implements core.Observer.
func (u *unfenced) Observe(e core.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch e.Kind {
	case worker.Claimed:
		u.lost = nil
	case worker.Lost, worker.Forgotten:
		u.lost = fmt.Errorf("%w: %w", core.ErrLost, e.Err)
		if u.current != nil {
			u.current.Revoke(e.Err)
		}
	}
}
