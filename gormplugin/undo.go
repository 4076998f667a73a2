package gormplugin

import (
	"reflect"
	"unsafe"
)

// undoLog remembers what keys and foreign keys were before.
type undoLog struct {
	entries []undoEntry
	given   [][]int64    // the keys that we gave
	made    []madeStruct // the outer before the inner
}

type undoEntry struct {
	field reflect.Value
	old   *reflect.Value // nil: zero
	key   bool
}

// madeStruct is an embedded struct that was nil.
type madeStruct struct {
	field reflect.Value // the pointer to it
	at    unsafe.Pointer
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

// making calls set, which may make the nil embedded structs on the way to a
// field, and remembers those.
func (u *undoLog) making(row reflect.Value, index []int, set func() error) error {
	at := 0
	for ; at < len(index)-1; at++ {
		if index[at] >= 0 {
			row = row.Field(index[at])
			continue
		}
		field := row.Field(-index[at] - 1)
		if field.IsNil() {
			break
		}
		row = field.Elem()
	}
	err := set()
	for ; at < len(index)-1; at++ {
		if index[at] >= 0 {
			row = row.Field(index[at])
			continue
		}
		field := row.Field(-index[at] - 1)
		if field.IsNil() {
			break
		}
		u.made = append(u.made, madeStruct{field, field.UnsafePointer()})
		row = field.Elem()
	}
	return err
}

// restore sets everything back, the last change first. A key that is none of
// ours is left: a hook may have moved another row to where ours was.
func (u *undoLog) restore() { u.restoreKeys(&keySet{given: u.given}) }

func (u *undoLog) restoreKeys(ours *keySet) {
	u.restoreTo(undoMark{}, ours)
	*u = undoLog{}
}

// undoMark is a place in the log.
type undoMark struct{ entries, made int }

func (u *undoLog) mark() undoMark { return undoMark{len(u.entries), len(u.made)} }

// restoreTo is restore of what came after the mark. The log still knows which keys are ours.
func (u *undoLog) restoreTo(mark undoMark, ours *keySet) {
	for i := len(u.entries) - 1; i >= mark.entries; i-- {
		e := u.entries[i]
		if e.key && !ours.has(e.field) && idText(e.field) != "" {
			continue
		}
		if e.old != nil {
			e.field.Set(*e.old)
		} else {
			e.field.SetZero()
		}
	}
	for i := len(u.made) - 1; i >= mark.made; i-- {
		if m := u.made[i]; m.field.UnsafePointer() == m.at && m.field.Elem().IsZero() {
			m.field.SetZero()
		}
	}
	u.entries, u.made = u.entries[:mark.entries], u.made[:mark.made]
}

// restoreAll is restore, and finds what hooks have moved elsewhere: keys of ours,
// foreign keys that are copies of a key which was taken back, and structs that we made.
func (g *graph) restoreAll() {
	hooked := false
	for _, n := range g.order {
		hooked = hooked || n.state != pending && n.shape.hasHooks(g.db)
	}
	if !hooked {
		g.undo.restore()
		return
	}
	_ = g.walk() // where everything is now; as far as it goes, if that is in disorder
	copies, left := g.copies()
	ours := &keySet{given: g.undo.given}
	made := make(map[unsafe.Pointer]bool, len(g.undo.made))
	for _, m := range g.undo.made {
		made[m.at] = true
	}
	g.undo.restoreKeys(ours)
	for _, n := range g.order {
		for i := range n.shape.targets {
			t := &n.shape.targets[i]
			if field := fieldAt(n.row, t.field.StructField.Index); t.source != nil && ours.has(field) {
				field.SetZero()
			}
		}
	}
	for _, c := range copies {
		if now := idText(c.to); now != "" && (ours.has(c.to) || left[now] || now == c.was && idText(c.from) != now) {
			c.to.SetZero()
		}
	}
	for _, n := range g.order {
		for i := range n.shape.targets {
			unmake(n.row, n.shape.targets[i].field.StructField.Index, made)
		}
	}
	for i := range g.edges {
		for _, l := range *g.edges[i].links {
			unmake(g.edges[i].child.row, l.to.StructField.Index, made)
		}
	}
}

// keyCopy is a foreign key, the key that it is of, and what they were both.
type keyCopy struct {
	from, to reflect.Value
	was      string
}

// copies are the foreign keys that equal their key. left are those that were zero,
// and that we set in rows which have gone elsewhere since.
func (g *graph) copies() (copies []keyCopy, left map[string]bool) {
	here := map[unsafe.Pointer]bool{}
	for i := range g.edges {
		e := &g.edges[i]
		for _, l := range *e.links {
			if l.from == nil {
				continue
			}
			c := keyCopy{from: fieldAt(e.parent.row, l.from.StructField.Index), to: fieldAt(e.child.row, l.to.StructField.Index)}
			if !c.to.IsValid() {
				continue
			}
			here[c.to.Addr().UnsafePointer()] = true
			if c.was = idText(c.from); c.was != "" && c.was == idText(c.to) {
				copies = append(copies, c)
			}
		}
	}
	left = map[string]bool{}
	for _, e := range g.undo.entries {
		if !e.key && e.old == nil && !here[e.field.Addr().UnsafePointer()] {
			left[idText(e.field)] = true
		}
	}
	return copies, left
}

// unmake takes away the structs on the way to a field that we made, and in which nothing is.
func unmake(row reflect.Value, index []int, made map[unsafe.Pointer]bool) {
	if len(made) == 0 || len(index) < 2 {
		return
	}
	if index[0] >= 0 {
		unmake(row.Field(index[0]), index[1:], made)
		return
	}
	field := row.Field(-index[0] - 1)
	if field.IsNil() {
		return
	}
	unmake(field.Elem(), index[1:], made)
	if made[field.UnsafePointer()] && field.Elem().IsZero() {
		field.SetZero()
	}
}
