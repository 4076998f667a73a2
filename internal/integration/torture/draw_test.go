//go:build unix

package torture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const most = 20_000 // ids in one Fill: some ticks

// draw takes ids, one or many at a time, and records them. An id that is not recorded when
// the process is killed counts as unused.
func (h *holder) draw(halt <-chan struct{}, gen sqltype.Source) error {
	buf := make([]int64, most)
	var records []record
	slow := h.rand.oneIn(3) // at the wall clock's pace; the others run into their bound
	for {
		select {
		case <-halt:
			return nil
		default:
		}
		if slow {
			time.Sleep(h.rand.duration(0, 3*time.Millisecond))
		}
		ids, err := h.some(gen, buf)
		h.pass(&h.outside)
		if records = runs(records[:0], ids); len(records) > 0 {
			h.book.write(records...)
		}
		if err == nil {
			continue
		}
		if done, err := h.sortOut(err); done || err != nil {
			return err
		}
	}
}

// some draws up to len(buf) ids.
func (h *holder) some(gen sqltype.Source, buf []int64) ([]int64, error) {
	ctx := context.Background()
	if h.rand.oneIn(20) {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, h.rand.duration(0, 20*time.Millisecond))
		defer cancel()
	}
	if h.rand.oneIn(3) {
		buf = buf[:h.rand.between(1, 64)]
		for i := range buf {
			id, err := gen.Next(ctx)
			if err != nil {
				return buf[:i], err
			}
			buf[i] = id
		}
		return buf, nil
	}
	buf = buf[:h.rand.between(1, min(most, int64(1)<<h.rand.below(16)))]
	if err := gen.Fill(ctx, buf); err != nil {
		return nil, err
	}
	return buf, nil
}

// sortOut reports whether an error ends the drawing. It returns an unexpected error.
func (h *holder) sortOut(err error) (done bool, unexpected error) {
	var back *core.ClockError
	switch {
	case errors.Is(err, core.ErrClosed):
		return true, nil
	case errors.Is(err, core.ErrFenced):
		h.book.write(record{kind: fenced})
	case errors.Is(err, core.ErrLost), errors.Is(err, core.ErrSequenceExhausted), errors.As(err, &back),
		errors.Is(err, context.DeadlineExceeded):
	default:
		return true, fmt.Errorf("draw: %w", err)
	}
	time.Sleep(time.Millisecond)
	return false, nil
}
