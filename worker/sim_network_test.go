package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// send carries a request to the store and its answer back, or loses one of them.
func (p *proc) send(ctx context.Context, what string, request func() error) error {
	s := p.sim
	synctest.Wait()
	p.calls++
	defer func() { p.calls-- }()
	if s.healthy {
		err := request()
		s.note("%d: %s, %v", p.id, what, err)
		return err
	}
	between := func() {
		for s.chance(2) && s.depth < 4 {
			s.act()
		}
	}
	between()
	if time.Now().Before(p.cut) {
		return errNetwork
	}
	switch s.rng.IntN(20) {
	case 0:
		s.faults[lostRequest]++
		s.note("%d: %s is lost", p.id, what)
		return errNetwork
	case 1, 2:
		s.faults[lateRequest]++
		s.note("%d: %s is on its way", p.id, what)
		s.late = append(s.late, func() { s.note("%d: %s arrives late, %v", p.id, what, request()) })
		between()
		return errNetwork
	case 3:
		s.faults[twiceRequest]++
		s.late = append(s.late, func() { s.note("%d: %s arrives again, %v", p.id, what, request()) })
	}
	err := request()
	s.note("%d: %s, %v", p.id, what, err)
	between()
	synctest.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.chance(12) {
		s.faults[lostReply]++
		s.note("%d: the answer to %s is lost", p.id, what)
		return errNetwork
	}
	return err
}

// Claim implements driver.Store.
func (p *proc) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	var got driver.Lease
	err := p.send(ctx, "claim", func() error {
		l, err := p.sim.store.transact(c.WorkerIDs, c.Decide)
		if p.sim.break_ == ownClock || p.sim.break_ == noFence {
			l.Start, l.Fence = c.Now, c.Now+c.FenceWindow
		}
		if err == nil && p.sim.break_ == sound {
			err = c.CheckLease(l) // as a client of a server may
		}
		p.sim.note("%d: has worker ID %d, fencing token %d, from %d to %d", p.id, l.Worker, l.FencingToken, l.Start, l.Fence)
		got = l
		return err
	})
	return got, err
}

// Renew implements driver.Store.
func (p *proc) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	var got driver.Lease
	err := p.send(ctx, fmt.Sprintf("renewal of %d", r.Worker), func() (err error) {
		got, err = p.sim.store.renew(r)
		if rec := p.sim.store.records[r.Worker]; errors.Is(err, driver.ErrNotHeld) && p.sim.break_ == unguarded {
			r.FencingToken, r.ClaimID = rec.FencingToken, rec.ClaimID
			got, err = p.sim.store.renew(r)
		}
		return err
	})
	if errors.Is(err, errNetwork) && p.sim.break_ == eager {
		return driver.Lease{Fence: p.sim.store.now() + r.FenceWindow}, nil
	}
	return got, err
}

// Release implements driver.Store.
func (p *proc) Release(ctx context.Context, r driver.Release) error {
	if p.sim.break_ == earlyRelease {
		r.Unused -= int64(p.sim.rng.IntN(20))
	}
	return p.send(ctx, fmt.Sprintf("release of %d from %d on", r.Worker, r.Unused), func() error {
		return p.sim.store.change(r.Worker, r.Decide)
	})
}

// breakage is a fault in the protocol, which the simulation must find.
type breakage int

const (
	sound          breakage = iota
	noFence                 // a claim starts at the holder's clock and has no end
	ownClock                // a claim starts at the holder's clock
	unguarded               // a renewal does not name its claim
	eager                   // the fence rises before the store has acknowledged it
	earlyRelease            // a worker ID is released before the last id of it is known
	noFloor                 // the store ignores that it may have forgotten
	expiredRenewal          // a claim whose fence had passed when the store forgot is renewed
)

func (b breakage) String() string {
	return [...]string{"sound", "no fence", "own clock", "unguarded renewal", "eager", "early release", "no floor", "renewal of the expired"}[b]
}
