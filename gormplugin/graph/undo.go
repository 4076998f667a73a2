package graph

import (
	"reflect"
	"unsafe"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// undoLog has the values of fields before the graph set them.
type undoLog struct {
	entries []undoEntry
	made    []madeStruct // the outer before the inner
	given   [][]int64    // the keys that were given
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

// undoMark is a position in the log.
type undoMark struct{ entries, made int }

func (u *undoLog) mark() undoMark { return undoMark{len(u.entries), len(u.made)} }

// save remembers a field that is about to be set.
func (u *undoLog) save(field reflect.Value) {
	e := undoEntry{field: field}
	if !field.IsZero() {
		old := reflect.New(field.Type()).Elem()
		old.Set(field)
		e.old = &old
	}
	u.entries = append(u.entries, e)
}

// saveKey remembers a field that is about to get a key from the graph.
func (u *undoLog) saveKey(field reflect.Value) {
	u.save(field)
	u.entries[len(u.entries)-1].key = true
}

// dropIfSame removes the last entry if the field has not changed.
func (u *undoLog) dropIfSame() {
	last := len(u.entries) - 1
	e := u.entries[last]
	if e.old == nil && e.field.IsZero() || e.old != nil && reflect.DeepEqual(e.old.Interface(), e.field.Interface()) {
		u.entries = u.entries[:last]
	}
}

// saveMade remembers the embedded structs that setting a field has allocated. row and index are
// where descend stopped before.
func (u *undoLog) saveMade(row reflect.Value, index []int) {
	descend(row, index, func(field reflect.Value) {
		u.made = append(u.made, madeStruct{field, field.UnsafePointer()})
	})
}

// descend follows the index of a field through embedded structs up to a nil pointer, and calls
// met for each pointer on the way. It returns where it stopped, and the rest of the index.
func descend(row reflect.Value, index []int, met func(field reflect.Value)) (reflect.Value, []int) {
	for ; len(index) > 1; index = index[1:] {
		if index[0] >= 0 {
			row = row.Field(index[0])
			continue
		}
		field := row.Field(-index[0] - 1)
		if field.IsNil() {
			break
		}
		if met != nil {
			met(field)
		}
		row = field.Elem()
	}
	return row, index
}

// restore sets all fields back, the last change first. It leaves a key that the graph has not
// given: a hook may have moved another row there.
func (u *undoLog) restore() {
	u.restoreTo(undoMark{})
	*u = undoLog{}
}

// restoreTo restores what was set after the mark. The log still knows the keys that were given.
func (u *undoLog) restoreTo(mark undoMark) {
	given := rows.NewIDs(u.given)
	for i := len(u.entries) - 1; i >= mark.entries; i-- {
		e := u.entries[i]
		if e.key && !given.Has(e.field) && rows.Text(e.field) != "" {
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

// restoreAll restores all rows, and finds what hooks have moved to other rows: keys that the
// graph has given, copies of a key that is taken back, and structs that the graph has allocated.
func (g *graph) restoreAll() {
	hooked := false
	for _, n := range g.order {
		hooked = hooked || n.state != pending && n.model.hasHooks(g.db)
	}
	if !hooked {
		g.undo.restore()
		return
	}
	_ = g.walk() // to where the rows are now, as far as it succeeds
	copies, orphaned := g.copies()
	given := rows.NewIDs(g.undo.given)
	made := make(map[unsafe.Pointer]bool, len(g.undo.made))
	for _, m := range g.undo.made {
		made[m.at] = true
	}
	g.undo.restore()
	for _, n := range g.order {
		for i := range n.model.columns {
			c := &n.model.columns[i]
			if field := rows.Field(n.row, c.Field.StructField.Index); c.Source != nil && given.Has(field) {
				field.SetZero()
			}
		}
	}
	for _, c := range copies {
		if now := rows.Text(c.to); now != "" && (given.Has(c.to) || orphaned[now] || now == c.text && rows.Text(c.from) != now) {
			c.to.SetZero()
		}
	}
	for _, n := range g.order {
		for i := range n.model.columns {
			removeMade(n.row, n.model.columns[i].Field.StructField.Index, made)
		}
	}
	for i := range g.edges {
		for _, r := range *g.edges[i].refs {
			removeMade(g.edges[i].child.row, r.to.StructField.Index, made)
		}
	}
}

// keyCopy is a foreign key that equals the key it refers to.
type keyCopy struct {
	from, to reflect.Value
	text     string // of both
}

// copies returns the foreign keys that equal their key. orphaned are the foreign keys that were
// zero, and that the graph has set in rows which are no longer in it.
func (g *graph) copies() (copies []keyCopy, orphaned map[string]bool) {
	here := map[unsafe.Pointer]bool{}
	for i := range g.edges {
		e := &g.edges[i]
		for _, r := range *e.refs {
			if r.from == nil {
				continue
			}
			c := keyCopy{from: r.source(e.parent.row), to: r.target(e.child.row)}
			if !c.to.IsValid() {
				continue
			}
			here[c.to.Addr().UnsafePointer()] = true
			if c.text = rows.Text(c.from); c.text != "" && c.text == rows.Text(c.to) {
				copies = append(copies, c)
			}
		}
	}
	orphaned = map[string]bool{}
	for _, e := range g.undo.entries {
		if !e.key && e.old == nil && !here[e.field.Addr().UnsafePointer()] {
			orphaned[rows.Text(e.field)] = true
		}
	}
	return copies, orphaned
}

// removeMade sets the pointers that lead to a field back to nil if the graph has allocated the
// structs and they are zero.
func removeMade(row reflect.Value, index []int, made map[unsafe.Pointer]bool) {
	if len(made) == 0 || len(index) < 2 {
		return
	}
	if index[0] >= 0 {
		removeMade(row.Field(index[0]), index[1:], made)
		return
	}
	field := row.Field(-index[0] - 1)
	if field.IsNil() {
		return
	}
	removeMade(field.Elem(), index[1:], made)
	if made[field.UnsafePointer()] && field.Elem().IsZero() {
		field.SetZero()
	}
}
