package sqltype

import (
	"context"
	"fmt"
)

// A Filler makes many ids at once: it sets every element of ids, ascending, or
// returns an error. Generators of the core package are fillers, and take all
// the ids of one call in one reservation.
type Filler interface {
	Fill(ctx context.Context, ids []int64) error
}

// A Detail describes one kind of rows that belong to a master row M, such as
// the lines of an order. It is made by [Details]; the zero Detail is refused by
// [Assign].
type Child[M any] struct {
	collect func(m *M, master *ID, p *plan) error
	err     error // what is wrong with the arguments of Details
}

// Details describes the details of type D that a master of type M holds. list
// returns the master's details and must share their memory with the master: the
// keys are set in the slice that it returns. key and foreignKey return the
// address of a detail's own key and of the key of its master.
//
// key and foreignKey may return the same address, where a detail has its
// master's key as its own: such a detail takes no id.
//
// A nil function is reported by Assign.
func Children[M, D any](list func(*M) []D, key, foreignKey func(*D) *ID) Child[M] {
	var missing string
	switch {
	case list == nil:
		missing = "list"
	case key == nil:
		missing = "key"
	case foreignKey == nil:
		missing = "foreignKey"
	}
	if missing != "" {
		return Child[M]{err: fmt.Errorf("function %s is %w", missing, ErrNil)}
	}
	return Child[M]{collect: func(m *M, master *ID, p *plan) error {
		rows := list(m)
		for i := range rows {
			own, foreign := key(&rows[i]), foreignKey(&rows[i])
			if foreign == nil {
				return fmt.Errorf("details[%d]: foreignKey returned %w", i, ErrNil)
			}
			if own != foreign {
				if err := p.need(own); err != nil {
					return fmt.Errorf("details[%d]: %w", i, err)
				}
			}
			p.links = append(p.links, link{foreign, master})
		}
		return nil
	}}
}

// Assign gives a key to every master and every detail that has none (an ID of
// zero), and sets the foreign key of every detail to its master's key. Nothing
// is written to a database: rows whose keys are known can then be inserted in
// bulk, in any batches.
//
// All keys come from one call of src.Fill for exactly as many ids as are
// missing; if none is missing, src is not called. A key that is met twice, where a
// slice of pointers holds one row twice, takes one id. They are handed out in
// document order: a master, then its details, kind by kind as given, then the
// next master. So with an ascending src a master's new key is below those of its
// details. Keys already set are kept. A foreign key is overwritten whatever it
// was.
//
// On an error nothing is changed. An error of src is returned wrapped. ErrNil is
// returned if src or what it holds, a function, or the address that a function
// returned is nil, ErrNegative if a key is negative, and ErrSource if src gives an
// id that is not above zero. The error says which master and which detail.
func Assign[M any](ctx context.Context, src Filler, masters []M, key func(*M) *ID, kinds ...Child[M]) error {
	if isNil(src) {
		return fmt.Errorf("sqltype: Assign: source is %w", ErrNil)
	}
	if key == nil {
		return fmt.Errorf("sqltype: Assign: function key is %w", ErrNil)
	}
	for k := range kinds {
		if err := kinds[k].err; err != nil {
			return fmt.Errorf("sqltype: Assign: kinds[%d]: %w", k, err)
		}
		if kinds[k].collect == nil {
			return fmt.Errorf("sqltype: Assign: kinds[%d] is the zero Detail, use Details: %w", k, ErrNil)
		}
	}
	p := plan{missing: make([]*ID, 0, len(masters))}
	for i := range masters {
		m := &masters[i]
		own := key(m)
		if err := p.need(own); err != nil {
			return fmt.Errorf("sqltype: Assign: masters[%d]: %w", i, err)
		}
		for k := range kinds {
			if err := kinds[k].collect(m, own, &p); err != nil {
				return fmt.Errorf("sqltype: Assign: masters[%d]: kinds[%d]: %w", i, k, err)
			}
		}
	}
	return p.assign(ctx, src)
}

// A plan holds the addresses to be set, so that the caller's functions run only
// once and nothing is set before all of it is known to succeed.
type plan struct {
	missing []*ID
	links   []link
}

type link struct{ foreign, master *ID }

// need plans a new id for a key that has none.
func (p *plan) need(key *ID) error {
	switch {
	case key == nil:
		return fmt.Errorf("key returned %w", ErrNil)
	case *key < 0:
		return fmt.Errorf("key %d: %w", int64(*key), ErrNegative)
	case *key == 0:
		p.missing = append(p.missing, key)
	}
	return nil
}

func (p *plan) assign(ctx context.Context, src Filler) error {
	p.once()
	if n := len(p.missing); n > 0 {
		ids := make([]int64, n)
		if err := src.Fill(ctx, ids); err != nil {
			return fmt.Errorf("sqltype: Assign: %d ids: %w", n, err)
		}
		for i, id := range ids {
			if id <= 0 {
				return fmt.Errorf("sqltype: Assign: source gave %d as id %d of %d: %w", id, i+1, n, ErrSource)
			}
		}
		for i, key := range p.missing {
			*key = ID(ids[i])
		}
	}
	for _, l := range p.links { // last: a master's key may have been among the missing
		*l.foreign = *l.master
	}
	return nil
}

// once leaves each address once among the missing. It marks in the keys which it
// has seen: a set of addresses would cost more than all the rest.
func (p *plan) once() {
	unique := p.missing[:0]
	for _, key := range p.missing {
		if *key == 0 {
			*key = -1
			unique = append(unique, key)
		}
	}
	for _, key := range unique {
		*key = 0
	}
	p.missing = unique
}
