//go:build unix

package torture

import (
	"context"
	"errors"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var errReplyLost = errors.New("torture: the reply was lost on purpose")

// A network is between a lease and its store. Sometimes a request arrives late, or again long
// after the first time, or its reply is lost.
type network struct {
	store driver.Store
	rand  *random
	book  *logbook
}

const (
	lateOne   = 40 // one request in so many is late,
	twiceOne  = 30 // is sent again later,
	repliesOn = 25 // or is carried out and its reply lost
)

// carry sends a request once or twice. send returns the store's error.
func (n *network) carry(ctx context.Context, twice bool, send func(ctx context.Context, again bool) error) error {
	if n.rand.oneIn(lateOne) {
		n.book.write(record{kind: garbled})
		select {
		case <-time.After(n.rand.duration(0, renew)):
		case <-ctx.Done():
		}
	}
	if twice {
		n.book.write(record{kind: garbled})
		go func() {
			time.Sleep(n.rand.duration(0, 2*free))
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			defer cancel()
			_ = send(ctx, true) // its reply is lost
		}()
	}
	err := send(ctx, false)
	if err == nil && n.rand.oneIn(repliesOn) {
		n.book.write(record{kind: garbled})
		return errReplyLost
	}
	return err
}

// Claim records each claim that the store grants, even if the reply is lost.
func (n *network) Claim(ctx context.Context, c driver.Claim) (got driver.Lease, err error) {
	twice := n.rand.oneIn(4 * twiceOne) // it may take a worker ID for nothing
	err = n.carry(ctx, twice, func(ctx context.Context, again bool) error {
		l, err := n.store.Claim(ctx, c)
		if err != nil {
			return err
		}
		n.book.write(record{l.FencingToken, uint32(l.Worker), claimed})
		if !again {
			got = l
		}
		return nil
	})
	if err != nil {
		return driver.Lease{}, err
	}
	return got, nil
}

// Renew implements driver.Store.
func (n *network) Renew(ctx context.Context, r driver.Renewal) (got driver.Lease, err error) {
	err = n.carry(ctx, n.rand.oneIn(twiceOne), func(ctx context.Context, again bool) error {
		l, err := n.store.Renew(ctx, r)
		if err == nil && !again {
			got = l
		}
		return err
	})
	return got, err
}

// Release implements driver.Store.
func (n *network) Release(ctx context.Context, r driver.Release) error {
	return n.carry(ctx, n.rand.oneIn(twiceOne), func(ctx context.Context, _ bool) error { return n.store.Release(ctx, r) })
}
