package sqltype

import (
	"context"
	"fmt"
	"unsafe"
)

// Child describes one kind of child rows of a parent row P with a key K, such as the lines of an
// order. Make it with [Children]; [Assign] returns an error for the zero Child.
type Child[P any, K ~int64] struct {
	collect func(parent *P, parentKey *ID, p *plan) error
	err     error // in the arguments of Children
}

// Children describes the child rows C that a parent row P contains. list returns the parent's
// children. The slice must share memory with the parent, because the keys are set in it. key
// and foreignKey return the addresses of a child's own key and of its foreign key. If a child uses
// its parent's key as its own, both may return the same address: such a child takes no id. Assign
// returns an error for a nil function.
//
// The foreign key has the type K of the parent's key, so the key of another table does not compile.
func Children[P, C any, L, K ~int64](
	list func(*P) []C, key func(*C) *L, foreignKey func(*C) *K,
) Child[P, K] {
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
		return Child[P, K]{err: fmt.Errorf("function %s is %w", missing, ErrNil)}
	}
	return Child[P, K]{collect: func(parent *P, parentKey *ID, p *plan) error {
		rows := list(parent)
		for i := range rows {
			own, foreign := asID(key(&rows[i])), asID(foreignKey(&rows[i]))
			if foreign == nil {
				return fmt.Errorf("children[%d]: foreignKey returned %w", i, ErrNil)
			}
			if own != foreign {
				if err := p.addMissing(own); err != nil {
					return fmt.Errorf("children[%d]: %w", i, err)
				}
			}
			p.links = append(p.links, link{foreign, parentKey})
		}
		return nil
	}}
}

// Assign gives a key to every parent and every child that has none (an ID of zero), and sets the
// foreign key of every child to its parent's key. It writes nothing to a database; the rows can
// then be inserted in bulk, in any batches.
//
// All new keys come from one call of src.Fill. If none is missing, src is not called. Keys that
// are set are kept; foreign keys are always overwritten. An address that occurs twice, because
// a slice of pointers has one row twice, takes one id. Ids are assigned in document order: a
// parent, its children, kind by kind, then the next parent. So a parent's new key is below
// those of its children.
//
// On an error nothing is changed. An error of src is wrapped. The error is ErrNil if src, a
// function, or an address that a function returned is nil, ErrNegative if a key is negative,
// and ErrSource if src returns an id that is not above zero. It says which parent and child.
//
// For children of children, call Assign again with the children as parents: it keeps their keys. A
// key is an ID, a [Key] or another int64.
func Assign[P any, K ~int64](
	ctx context.Context, src Source, parents []P, key func(*P) *K, kinds ...Child[P, K],
) error {
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
			return fmt.Errorf("sqltype: Assign: kinds[%d] is the zero Child, use Children: %w", k, ErrNil)
		}
	}
	p := plan{missing: make([]*ID, 0, len(parents))}
	for i := range parents {
		parent := &parents[i]
		own := asID(key(parent))
		if err := p.addMissing(own); err != nil {
			return fmt.Errorf("sqltype: Assign: parents[%d]: %w", i, err)
		}
		for k := range kinds {
			if err := kinds[k].collect(parent, own, &p); err != nil {
				return fmt.Errorf("sqltype: Assign: parents[%d]: kinds[%d]: %w", i, k, err)
			}
		}
	}
	return p.assign(ctx, src)
}

// asID returns key as an *ID, because every ~int64 has the layout of an ID.
func asID[K ~int64](key *K) *ID { return (*ID)(unsafe.Pointer(key)) }

// plan holds the addresses to set, so that the caller's functions run only once, and nothing is
// set before everything is known to succeed.
type plan struct {
	missing []*ID
	links   []link
}

type link struct{ foreign, parent *ID }

// addMissing plans a new id for a key that has none.
func (p *plan) addMissing(key *ID) error {
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

func (p *plan) assign(ctx context.Context, src Source) error {
	p.dropRepeated()
	if n := len(p.missing); n > 0 {
		ids := make([]int64, n)
		if err := src.Fill(ctx, ids); err != nil {
			return fmt.Errorf("sqltype: Assign: %d ids: %w", n, err)
		}
		for i, id := range ids {
			if id <= 0 {
				return fmt.Errorf("sqltype: Assign: source returned %d as id %d of %d: %w", id, i+1, n, ErrSource)
			}
		}
		for i, key := range p.missing {
			*key = ID(ids[i])
		}
	}
	for _, l := range p.links { // last, because a parent's key may have been missing
		*l.foreign = *l.parent
	}
	return nil
}

// dropRepeated removes addresses that occur twice. It marks the keys it has seen, because a set of
// addresses would cost more than everything else.
func (p *plan) dropRepeated() {
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
