package core

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Next issues one id. If there is no slot for it, it waits for at most Config.MaxWait, or until
// ctx is done. Calls that wait get their ids in the order in which they came. If the fence does
// not rise in that time, it asks for another grant, which may take as long again. A call that
// begins after another has returned gets a greater id, except with [Rollback], [Reuse] and
// [Rotate].
//
// If it fails, it issues no id. The error is the error of ctx, or wraps [ErrSequenceExhausted],
// [ErrFenced], [ErrLost], [ErrClosed] or [ErrTimestampExhausted], or is a [ClockError].
func (g *Generator) Next(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if a := g.current.Load(); a != nil {
		if slot, ok := a.takeKnown(1); ok {
			return a.id(slot), nil
		}
	}
	return g.nextByClock(ctx)
}

// nextByClock does what Next does, and reads the clock.
func (g *Generator) nextByClock(ctx context.Context) (int64, error) {
	wait := waitState{want: 1, single: true}
	defer wait.end()
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		a := g.current.Load()
		if a == nil {
			return 0, ErrClosed
		}
		from, n := wait.take(a)
		if n == 1 {
			return a.id(from), nil
		}
		if err := g.await(ctx, a, &wait); err != nil {
			return 0, err
		}
	}
}

// Fill issues len(ids) ids in ascending order, or none. If it fails, ids is unchanged, and the
// slots that it has taken are never issued. If the ids do not fit into the present tick, it waits
// for the next ones. At each of these waits it lines up behind the calls that came earlier, for at
// most half of a tick, so that others get ids too. Config.MaxWait limits each of these waits. Only
// ctx limits all of them together.
//
// It returns the same errors as Next.
func (g *Generator) Fill(ctx context.Context, ids []int64) error {
	if a := g.current.Load(); a != nil && len(ids) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		want := uint64(len(ids))
		if from, ok := a.takeKnown(want); ok {
			(&chunk{a, slotRange{from, from + want}}).write(ids)
			return nil
		}
	}
	return g.fillByClock(ctx, ids)
}

// fillByClock does what Fill does, and reads the clock.
func (g *Generator) fillByClock(ctx context.Context, ids []int64) error {
	wait := waitState{want: uint64(len(ids))}
	taken := batch{pool: &g.chunks}
	defer taken.free()
	defer wait.end()
	for wait.want > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		a := g.current.Load()
		if a == nil {
			return ErrClosed
		}
		if from, n := wait.take(a); n > 0 {
			taken.add(a, from, n)
			wait.want -= n
			wait.restart()
		} else if err := g.await(ctx, a, &wait); err != nil {
			return err
		}
	}
	taken.write(ids)
	return nil
}

// batch collects the slots that a Fill takes, until they are complete.
type batch struct {
	few  [8]chunk   // the first chunks, which need no allocation
	n    int        // how many of few are in use
	more *[]chunk   // the others; nil: none
	pool *sync.Pool // of *[]chunk
}

// add adds n slots. If they follow those of the last chunk, it extends that chunk.
func (b *batch) add(a *allocator, from, n uint64) {
	if last := b.last(); last != nil && last.allocator == a && last.to == from {
		last.to += n
		return
	}
	c := chunk{a, slotRange{from, from + n}}
	if b.n < len(b.few) {
		b.few[b.n] = c
		b.n++
		return
	}
	if b.more == nil {
		if b.more, _ = b.pool.Get().(*[]chunk); b.more == nil {
			b.more = new([]chunk)
		}
	}
	*b.more = append(*b.more, c)
}

// free returns what was borrowed from the pool.
func (b *batch) free() {
	if b.more != nil {
		clear(*b.more) // so that the allocators can be collected
		*b.more = (*b.more)[:0]
		b.pool.Put(b.more)
	}
}

func (b *batch) last() *chunk {
	switch {
	case b.more != nil:
		return &(*b.more)[len(*b.more)-1]
	case b.n > 0:
		return &b.few[b.n-1]
	}
	return nil
}

// write writes the ids in ascending order. It sorts them if the allocator changed while they were
// taken, because ids may descend then. Otherwise the chunks are in ascending order.
func (b *batch) write(ids []int64) {
	rest := ids
	for i := range b.n {
		rest = b.few[i].write(rest)
	}
	if b.more != nil {
		for i := range *b.more {
			rest = (*b.more)[i].write(rest)
		}
	}
	if b.n > 0 && b.last().allocator != b.few[0].allocator {
		slices.SortFunc(ids, func(x, y int64) int { return cmp.Compare(uint64(x), uint64(y)) })
	}
}

// write writes the chunk's ids and returns the rest of the slice. Within a tick, each id is the
// one before it plus step.
func (c *chunk) write(ids []int64) (rest []int64) {
	l := c.allocator.layout
	step := int64(1) << l.sequenceShift
	out, rest := ids[:c.to-c.from], ids[c.to-c.from:]
	for slot := c.from; len(out) > 0; {
		id := c.allocator.id(slot)
		n := min(uint64(len(out)), l.sequenceMax+1-slot&l.sequenceMax)
		for i := range out[:n] {
			out[i] = id
			id += step
		}
		out, slot = out[n:], slot+n
	}
	return rest
}
