package core

import (
	"cmp"
	"context"
	"slices"
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
	taken, _ := g.chunks.Get().(*chunks)
	if taken == nil {
		taken = new(chunks)
	}
	defer func() {
		clear(*taken) // so that the allocators can be collected
		*taken = (*taken)[:0]
		g.chunks.Put(taken)
	}()
	wait := waitState{want: uint64(len(ids))}
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

// chunks are the slots that a Fill has taken, until they are complete.
type chunks []chunk

// add adds n slots. If they follow those of the last chunk, it extends that chunk.
func (c *chunks) add(a *allocator, from, n uint64) {
	if len(*c) > 0 {
		if last := &(*c)[len(*c)-1]; last.allocator == a && last.to == from {
			last.to += n
			return
		}
	}
	*c = append(*c, chunk{a, slotRange{from, from + n}})
}

// write writes the ids in ascending order. It sorts them if the allocator changed while they were
// taken, because ids may descend then. Otherwise the chunks are in ascending order.
func (c chunks) write(ids []int64) {
	rest := ids
	for i := range c {
		rest = c[i].write(rest)
	}
	if len(c) > 0 && c[len(c)-1].allocator != c[0].allocator {
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
