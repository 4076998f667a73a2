package graph

import (
	"reflect"
	"unsafe"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// undoLog remembers what fields were before the graph has set them.
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

// making calls set, which may allocate nil embedded structs that a field is in, and remembers
// those.
func (u *undoLog) making(row reflect.Value, index []int, set func() error) error {
	row, rest := descend(row, index, nil)
	err := set()
	descend(row, rest, func(field reflect.Value) {
		u.made = append(u.made, madeStruct{field, field.UnsafePointer()})
	})
	return err
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
func (u *undoLog) restore() { u.restoreAll(rows.NewIDs(u.given)) }

func (u *undoLog) restoreAll(given *rows.IDs) {
	u.restoreTo(undoMark{}, given)
	*u = undoLog{}
}

// restoreTo restores what was set after the mark. The log still knows the keys that were given.
func (u *undoLog) restoreTo(mark undoMark, given *rows.IDs) {
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
