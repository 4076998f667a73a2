package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// send carries a request to the store and its answer back, or not.
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
		return p.sim.break_.lost(errNetwork)
	case 1, 2:
		s.faults[lateRequest]++
		s.note("%d: %s is on its way", p.id, what)
		s.late = append(s.late, func() { s.note("%d: %s arrives late, %v", p.id, what, request()) })
		between()
		return p.sim.break_.lost(errNetwork)
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
	var got driver.Claim
	err := p.send(ctx, "claim", func() error {
		c, err := p.sim.store.Claim(context.Background(), r) // a late request does not end with its sender
		if err == nil && c.FencingToken > 1 {
			p.sim.faults[takenOver]++
		}
		if p.sim.break_ == ownClock || p.sim.break_ == noFence {
			c.From, c.Fence = r.Now, r.Now+r.FenceWindow
		}
		if err == nil && p.sim.break_ == sound {
			err = r.CheckClaim(c) // as a client of a server may
		}
		p.sim.note("%d: has number %d, epoch %d, from %d to %d", p.id, c.Worker, c.FencingToken, c.From, c.Fence)
		got = c
		return err
	})
	return got, err
}

// Renew implements driver.Store.
func (p *proc) Renew(ctx context.Context, r driver.Renewal) error {
	return p.send(ctx, fmt.Sprintf("renewal of %d to %d", r.Worker, r.Fence), func() error {
		ctx := context.Background()
		err := p.sim.store.Renew(ctx, r)
		if errors.Is(err, driver.ErrNotHeld) && p.sim.break_ == noEpoch {
			records, _ := p.sim.store.List(ctx, r.Namespace)
			for _, record := range records {
				if record.Worker == r.Worker && record.ClaimID != "" {
					r.FencingToken, r.ClaimID = record.FencingToken, record.ClaimID
					err = p.sim.store.Renew(ctx, r)
				}
			}
		}
		return err
	})
}

// Release implements driver.Store.
func (p *proc) Release(ctx context.Context, r driver.Release) error {
	if p.sim.break_ == earlyRelease {
		r.Fence -= int64(p.sim.rng.IntN(20))
	}
	return p.send(ctx, fmt.Sprintf("release of %d from %d on", r.Worker, r.Fence), func() error {
		return p.sim.store.Release(context.Background(), r)
	})
}

// breakage is a fault in the fence itself, which the simulation must find.
type breakage int

const (
	sound        breakage = iota
	noFence               // spans begin at the holder's clock and have no end
	ownClock              // spans begin at the holder's clock
	noEpoch               // a renewal is not guarded by epoch and token
	eager                 // the bound rises before the store has acknowledged it
	earlyRelease          // a number is given back before the last id of it is known
)

func (b breakage) String() string {
	return [...]string{"sound", "no fence", "own clock", "no epoch", "eager", "early release"}[b]
}

// lost is what the sender of a request that was lost takes it for.
func (b breakage) lost(err error) error {
	if b == eager {
		return nil
	}
	return err
}
