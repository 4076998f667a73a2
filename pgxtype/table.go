package pgxtype

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Table configures one table, and which of its rows belong to a parent of type P. Make it with
// [ParentTable], [ChildTable], [ChildTableSeq] or [Nested]. The zero Table is an error in [Load].
//
// Table and column names are quoted, so they are case-sensitive and may contain any character
// except NUL. A schema is an element of its own: pgx.Identifier{"shop", "orders"}.
//
// The function values appends one value for each column to row, and returns it. A value may be
// anything that pgx encodes. Append addresses (&o.ID, &o.Note) if possible: a pointer to an ID, a
// Key, a string, a signed integer, a float64 or a time.Time costs no allocation. Load encodes the
// values before it calls the function again, so their memory may be reused.
//
// The functions of a Table run on [Load]'s goroutine, for one parent at a time, before Load asks
// for the next one.
type Table[P any] struct {
	name     pgx.Identifier
	columns  []string
	conflict *Conflict
	rows     func(parent *P, to *encoder) error // encodes the rows of a parent
	missing  string                             // the function that is nil
}

// ParentTable is a table with one row for each parent.
func ParentTable[P any](name pgx.Identifier, columns []string, values func(parent *P, row []any) []any) Table[P] {
	t := newTable[P](name, columns, values == nil)
	t.rows = func(parent *P, to *encoder) error { return to.add(values(parent, to.row())) }
	return t
}

// ChildTable is a table with one row for each child. list returns the children of a parent. Load
// encodes them before it calls list again, so the slice may be reused.
func ChildTable[P, C any](name pgx.Identifier, columns []string, list func(parent *P) []C, values func(child *C, row []any) []any) Table[P] {
	return Nested(list, ParentTable(name, columns, values))
}

// ChildTableSeq is [ChildTable] for rows that are not in memory: rows returns a sequence for each
// parent, which Load runs once. Load encodes each row before it asks for the next one, so the
// sequence may reuse its memory. An error that it yields ends the load.
//
// If one parent has more rows than ChunkBytes, they are sent in parts.
func ChildTableSeq[P, C any](name pgx.Identifier, columns []string, rows func(parent *P) iter.Seq2[C, error], values func(child *C, row []any) []any) Table[P] {
	t := newTable[P](name, columns, values == nil)
	if rows == nil {
		t.missing = "rows"
	}
	t.rows = func(parent *P, to *encoder) error {
		seq := rows(parent)
		if seq == nil {
			return nil // no rows
		}
		child := new(C)
		for v, err := range seq {
			if err != nil {
				return to.refuse(err)
			}
			*child = v
			if err := to.add(values(child, to.row())); err != nil {
				return err
			}
			if err := to.spill(); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}

// Nested is a table of rows one level further down: list returns the children of a parent, and
// table has the rows of each child. So the table of grandchildren is
//
//	pgxtype.Nested(func(o *Order) []Line { return o.Lines },
//		pgxtype.ChildTable(name, columns, func(l *Line) []Part { return l.Parts }, values))
//
// For deeper levels, nest again. Load calls list once per parent for each table that
// uses it. It must return the same children each time.
func Nested[P, C any](list func(parent *P) []C, table Table[C]) Table[P] {
	t := Table[P]{name: table.name, columns: table.columns, conflict: table.conflict, missing: table.missing}
	if list == nil {
		t.missing = "list"
	}
	if table.rows != nil { // the zero Table stays one
		t.rows = func(parent *P, to *encoder) error {
			children := list(parent)
			for i := range children {
				if err := table.rows(&children[i], to); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return t
}

func newTable[P any](name pgx.Identifier, columns []string, noValues bool) Table[P] {
	t := Table[P]{name: slices.Clone(name), columns: slices.Clone(columns)}
	if noValues {
		t.missing = "values"
	}
	return t
}

// Seq adapts a sequence that cannot fail, such as slices.Values(orders), for [Load].
func Seq[T any](seq iter.Seq[T]) iter.Seq2[T, error] {
	if seq == nil {
		return nil
	}
	return func(yield func(T, error) bool) {
		for v := range seq {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// check adds the errors of the table.
func (t *Table[P]) check(field string, wrong *fields.Errors) {
	if t.rows == nil {
		wrong.Add(field, nil, "is the zero Table; use ParentTable, ChildTable, ChildTableSeq or Nested")
		return
	}
	if t.missing != "" {
		wrong.Add(field+"."+t.missing, nil, "is required")
	}
	if len(t.name) == 0 {
		wrong.Add(field+".name", nil, "is required")
	}
	if len(t.columns) == 0 {
		wrong.Add(field+".columns", nil, "is required")
	}
	checkName := func(field, name string) {
		if name == "" || strings.ContainsRune(name, 0) { // pgx would drop a NUL, and so use another name
			wrong.Add(field, name, "must not be empty or contain a NUL")
		}
	}
	for _, name := range t.name {
		checkName(field+".name", name)
	}
	for c, name := range t.columns {
		at := fmt.Sprintf("%s.columns[%d]", field, c)
		if checkName(at, name); slices.Index(t.columns, name) < c {
			wrong.Add(at, name, "must be unique")
		}
	}
	if t.conflict != nil {
		t.conflict.check(field, t.columns, wrong)
	}
}
