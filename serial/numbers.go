package serial

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Numbers hands out the numbers of a Numbering. Make it with NewNumbers. It may be
// used by many goroutines at once.
//
// No number is handed out twice, by whatever process, as long as the counter's
// store loses no acknowledged write. Numbers are skipped: of a block, those that
// are left when the process ends or crashes, and when the period changes, at most
// Block-1 each time; and a whole block where the answer to a reservation was lost,
// or its context done. A clock that goes back over midnight changes the period
// again: the day before goes on with a new block. With several processes and a
// Block above 1, a number may be handed out after a higher one of another process.
//
// [Numbers.NextIn] is for numbers without gaps.
type Numbers struct {
	cfg  Numbering
	turn chan struct{} // held by who looks at the block, or reserves one

	period    string // of the block
	next, end int64  // the block has next to end-1
	full      bool   // the period has used up its digits
}

// NewNumbers checks the description. It does not ask the counter yet.
func NewNumbers(n Numbering) (*Numbers, error) {
	cfg, err := n.check()
	if err != nil {
		return nil, err
	}
	return &Numbers{cfg: cfg, turn: make(chan struct{}, 1)}, nil
}

// UsedUpError is returned when a period has no number left that fits its digits.
type UsedUpError struct {
	Key    string // "20261121:INV"
	Digits int
}

func (e *UsedUpError) Error() string {
	return fmt.Sprintf("serial: all numbers of %d digits are used up under the key %q; a numbering with more Digits, of another Code, goes on", e.Digits, e.Key)
}

// Next gives the next number, of the period at the time when its turn has come. It
// asks the counter once for each block; whoever calls meanwhile waits for that answer,
// or until ctx is done. When the period's digits are used up it is a [UsedUpError],
// never a wider number.
func (n *Numbers) Next(ctx context.Context) (string, error) {
	if n == nil || n.turn == nil {
		return "", notMade()
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := n.wait(ctx); err != nil {
		return "", err
	}
	defer func() { <-n.turn }()
	period, err := n.cfg.period(n.cfg.Now())
	if err != nil {
		return "", err
	}
	if period != n.period {
		n.period, n.next, n.end, n.full = period, 0, 0, false
	}
	if n.full {
		return "", n.usedUp(period)
	}
	if n.next == n.end {
		first, err := n.reserve(ctx, n.cfg.Counter, period, n.cfg.Block)
		if err != nil {
			return "", err
		}
		last := most(n.cfg.Digits)
		if first > last {
			n.full = true
			return "", n.usedUp(period)
		}
		n.next, n.end = first, min(first+n.cfg.Block-1, last)+1
	}
	n.next++
	return n.cfg.write(period, n.next-1), nil
}

// NextIn takes one number from the counter given, which counts within a
// transaction: see the In of sqlstore. If the transaction is rolled back the
// number is not used, and the next one gets it: so there are no gaps. The price is
// that numbers of one key are given one transaction at a time: from this call until
// the commit, others who number under the key wait. So would Next, called before the
// same transaction has ended; and what Next skips of the same Code are gaps. A store
// itself is in no transaction: its numbers have gaps as Next's have.
func (n *Numbers) NextIn(ctx context.Context, tx Counter) (string, error) {
	if n == nil || n.turn == nil {
		return "", notMade()
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if isNil(tx) {
		return "", configError([]core.FieldError{{Field: "tx", Value: "nil", Reason: "must be a counter within a transaction"}})
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	period, err := n.cfg.period(n.cfg.Now())
	if err != nil {
		return "", err
	}
	number, err := n.reserve(ctx, tx, period, 1)
	if err != nil {
		return "", err
	}
	if number > most(n.cfg.Digits) {
		return "", n.usedUp(period)
	}
	return n.cfg.write(period, number), nil
}

// wait is for this goroutine's turn with the block.
func (n *Numbers) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // nothing is issued when it is done, though a turn may be free
	}
	select {
	case n.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("serial: wait for a number of %q: %w", n.cfg.Code, ctx.Err())
	}
}

// reserve asks the counter, and trusts no answer that cannot be one.
func (n *Numbers) reserve(ctx context.Context, c Counter, period string, count int64) (first int64, err error) {
	key := n.cfg.key(period)
	first, err = c.Reserve(ctx, key, count)
	if err != nil {
		return 0, fmt.Errorf("serial: no number under the key %q: %w", key, err)
	}
	if first < 1 || first > math.MaxInt64-count {
		return 0, fmt.Errorf("serial: the counter gave %d numbers from %d under the key %q: it must count up from 1", count, first, key)
	}
	return first, nil
}

func (n *Numbers) usedUp(period string) error {
	return &UsedUpError{Key: n.cfg.key(period), Digits: n.cfg.Digits}
}

func notMade() error {
	return configError([]core.FieldError{{Field: "Numbers", Value: "zero", Reason: "must be made by NewNumbers"}})
}
