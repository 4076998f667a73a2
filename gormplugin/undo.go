package gormplugin

import "reflect"

// undoLog remembers what keys and foreign keys were before.
type undoLog struct {
	entries []undoEntry
	given   [][]int64 // the keys that we gave
}

type undoEntry struct {
	field reflect.Value
	old   *reflect.Value // nil: zero
	key   bool
}

func (u *undoLog) len() int { return len(u.entries) }

func (u *undoLog) save(field reflect.Value) {
	e := undoEntry{field: field}
	if !field.IsZero() {
		old := reflect.New(field.Type()).Elem()
		old.Set(field)
		e.old = &old
	}
	u.entries = append(u.entries, e)
}

// dropIfSame forgets the last change if it changed nothing.
func (u *undoLog) dropIfSame() {
	last := len(u.entries) - 1
	e := u.entries[last]
	if e.old == nil {
		if e.field.IsZero() {
			u.entries = u.entries[:last]
		}
	} else if reflect.DeepEqual(e.old.Interface(), e.field.Interface()) {
		u.entries = u.entries[:last]
	}
}

// saveKey remembers a key; of one behind a pointer, the pointer: a key that is
// given gets a new one.
func (u *undoLog) saveKey(field reflect.Value) {
	u.save(field)
	u.entries[len(u.entries)-1].key = true
}

// saveMoved remembers a key that is about to become that of an existing row.
func (u *undoLog) saveMoved(field reflect.Value) { u.save(field) }

// restore sets everything back, the last change first. A key that is none of
// ours is left: a hook may have moved another row to where ours was.
func (u *undoLog) restore() {
	ours := u.ours()
	for i := len(u.entries) - 1; i >= 0; i-- {
		e := u.entries[i]
		if id, ok := integer(e.field); e.key && ok && id != 0 && !ours[id] {
			continue
		}
		if e.old != nil {
			e.field.Set(*e.old)
		} else {
			e.field.SetZero()
		}
	}
	*u = undoLog{}
}

// ours are the keys that were given.
func (u *undoLog) ours() map[int64]bool {
	ours := map[int64]bool{}
	for _, ids := range u.given {
		for _, id := range ids {
			ours[id] = true
		}
	}
	return ours
}

// restoreAll is restore, and finds keys of ours that hooks have moved elsewhere.
func (g *graph) restoreAll() {
	moved := g.walks > 1
	var ours map[int64]bool
	if moved {
		ours = g.undo.ours()
	}
	g.undo.restore()
	if !moved {
		return
	}
	for _, n := range g.order {
		for i := range n.shape.targets {
			t := &n.shape.targets[i]
			field := fieldAt(n.row, t.field.StructField.Index)
			if id, ok := integer(field); ok && t.source != nil && ours[id] {
				field.SetZero()
			}
		}
	}
}
