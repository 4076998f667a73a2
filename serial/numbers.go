package serial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Numbers counts for each business code, and restarts at 1 with each day, month or year:
//
//	INV-20261121-000123
//
// Make it with NewNumbers. Any number of goroutines may share it. The methods of the zero
// Numbers return errors.
//
// No number is issued twice, in any process, provided the counter's store loses no
// acknowledged write. [Numbers.Next] skips numbers: the rest of a block when the process or
// the period ends, at most Block-1 each time, and a whole block if the store's answer
// is lost or ctx ends first. If the clock goes back over midnight, numbers of the day
// before continue with a new block. With several processes and a Block above 1, a number
// may be issued after a higher one of another process. [Numbers.NextIn] leaves no gaps.
type Numbers struct {
	cfg   NumbersConfig
	width int
	turn  chan struct{} // held by the goroutine that uses the block or reserves one

	period    string // of the block
	next, end int64  // the block has next to end-1
	exhausted bool   // the period has no numbers left
}

// NewNumbers returns Numbers. It makes no request to the Counter. The error is a
// [*core.ConfigError] with all that is wrong.
func NewNumbers(cfg NumbersConfig) (*Numbers, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	width := len(cfg.write(cfg.Period.layout(), 1))
	return &Numbers{cfg: cfg, width: width, turn: make(chan struct{}, 1)}, nil
}

func (n *Numbers) check() error {
	if n == nil || n.turn == nil {
		return errors.New("serial: Numbers must be made by NewNumbers")
	}
	return nil
}

// Next returns the next number of the current period. It makes one request to the Counter
// for each block; other callers wait for that answer, or until their ctx is done. If
// the period has no number left, the error is an [*ExhaustedError]. Without a
// Counter it is a [*core.ConfigError].
func (n *Numbers) Next(ctx context.Context) (string, error) {
	if err := n.check(); err != nil {
		return "", err
	}
	if n.cfg.Counter == nil {
		return "", fields.Error("serial", "Counter", nil, "is required for Next")
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
		n.period, n.next, n.end, n.exhausted = period, 0, 0, false
	}
	if n.exhausted {
		return "", n.exhaustedError(period)
	}
	if n.next == n.end {
		first, err := reserve(ctx, n.cfg.Counter, n.cfg.key(period), n.cfg.Block)
		if err != nil {
			return "", err
		}
		last := n.cfg.maxNumber()
		if first > last {
			n.exhausted = true
			return "", n.exhaustedError(period)
		}
		n.next, n.end = first, min(first+n.cfg.Block-1, last)+1
	}
	n.next++
	return n.cfg.write(period, n.next-1), nil
}

// NextIn returns the next number of a counter that counts in a transaction, such as
// store.In(tx) of sqlstore. A rollback returns the number, so there are no gaps. Until the
// commit, every other caller that needs a number of the same key waits, also in Next. Do not
// call Next for the same Code: numbers that it skips are gaps. With a store in place of a
// transaction, numbers have the gaps of Next.
func (n *Numbers) NextIn(ctx context.Context, tx Counter) (string, error) {
	if err := n.check(); err != nil {
		return "", err
	}
	if fields.IsNil(tx) {
		return "", fields.Error("serial", "tx", tx, "must be a counter in a transaction")
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	period, err := n.cfg.period(n.cfg.Now())
	if err != nil {
		return "", err
	}
	number, err := reserve(ctx, tx, n.cfg.key(period), 1)
	if err != nil {
		return "", err
	}
	if number > n.cfg.maxNumber() {
		return "", n.exhaustedError(period)
	}
	return n.cfg.write(period, number), nil
}

// wait waits for this goroutine's turn.
func (n *Numbers) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // a done ctx issues nothing, even if no other goroutine has the turn
	}
	select {
	case n.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("serial: wait for a number of %q: %w", n.cfg.Code, ctx.Err())
	}
}

// reserve checks the counter's answer.
func reserve(ctx context.Context, c Counter, key string, count int64) (first int64, err error) {
	first, err = c.Reserve(ctx, key, count)
	if err != nil {
		return 0, fmt.Errorf("serial: reserve number for %q: %w", key, err)
	}
	if first < 1 || first > math.MaxInt64-count {
		return 0, fmt.Errorf("serial: the counter returned %d numbers from %d under the key %q: it must count up from 1", count, first, key)
	}
	return first, nil
}

func (n *Numbers) exhaustedError(period string) error {
	return &ExhaustedError{Key: n.cfg.key(period), Digits: n.cfg.Digits}
}

// Width is the number of characters of each number: the size of its column.
func (n *Numbers) Width() int {
	if n == nil {
		return 0
	}
	return n.width
}

// Format returns the string of a number in the period that contains t. It needs no Counter
// and reserves nothing. A number that needs more than Digits is a [*core.ConfigError].
func (n *Numbers) Format(t time.Time, number int64) (string, error) {
	if err := n.check(); err != nil {
		return "", err
	}
	period, err := n.cfg.period(t)
	if err != nil {
		return "", err
	}
	if limit := n.cfg.maxNumber(); number < 1 || number > limit {
		return "", fields.Error("serial", "number", number, "must be 1 to %d, the greatest number of %d digits", limit, n.cfg.Digits)
	}
	return n.cfg.write(period, number), nil
}

// Parse reads what [Numbers.Next] and [Numbers.Format] return, character by character: the
// first instant of the period in Location, which is not midnight where clocks skip that,
// and the number. For Forever the time is zero. Anything else is a [*ParseError].
func (n *Numbers) Parse(s string) (period time.Time, value int64, err error) {
	if err := n.check(); err != nil {
		return time.Time{}, 0, err
	}
	r, err := open(s, n.cfg.Prefix, n.cfg.Separator, n.width)
	if err != nil {
		return time.Time{}, 0, err
	}
	var date string
	if n.cfg.Period != Forever {
		date = r.take("date", len(n.cfg.Period.layout()))
		r.skip()
	}
	digits := r.take("number", n.cfg.Digits)
	if r.err != nil {
		return time.Time{}, 0, r.err
	}
	period, reason := n.cfg.Period.start(date, n.cfg.Location)
	if reason != "" {
		return time.Time{}, 0, &ParseError{s, "date", date, reason}
	}
	if value = int64(number(digits)); value < 1 {
		return time.Time{}, 0, &ParseError{s, "number", digits, "must be at least 1"}
	}
	return period, value, nil
}

// ExhaustedError is the error of a period that has no number left of its Digits.
type ExhaustedError struct {
	Key    string // of the counter: "20261121:INV"
	Digits int
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("serial: all numbers of %d digits under the key %q are used; more Digits or another Code provide new ones", e.Digits, e.Key)
}
