package pgxtype

import (
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Table says which rows of a table come from a parent of type M. Make it with
// [Masters], [Details], [ChildTableSeq] or [Nested]. [Load] refuses the zero Table.
//
// Table and column names are quoted, so they are case-sensitive and may contain
// any character except NUL. A schema is an element of its own: pgx.Identifier{"shop",
// "orders"}.
//
// The function values appends one value for each column to row, and returns it. A
// value may be anything that pgx encodes. Append addresses (&o.ID, &o.Note)
// where you can: a value that is no pointer costs an allocation per row.
// Load encodes the values before it calls the function again, so the memory
// behind them may be reused then.
//
// The functions of a Table run on [Load]'s goroutine, for one parent at a time,
// before Load asks for the next one.
type Table[M any] struct {
	name     pgx.Identifier
	columns  []string
	conflict *Conflict
	rows     func(m *M, to *encoder) error // encodes the rows of m
	missing  string                        // the function that is nil
}

// Masters is a table with one row for each parent.
func ParentTable[M any](name pgx.Identifier, columns []string, values func(m *M, row []any) []any) Table[M] {
	t := newTable[M](name, columns, "values", values == nil)
	t.rows = func(m *M, to *encoder) error { return to.add(values(m, to.row())) }
	return t
}

// Details is a table with one row for each child. list returns the children of a
// parent. Load reads them before it calls list again, so the slice may be reused.
func ChildTable[M, D any](name pgx.Identifier, columns []string, list func(m *M) []D, values func(d *D, row []any) []any) Table[M] {
	return Nested(list, ParentTable(name, columns, values))
}

// ChildTableSeq is [Details] for rows that are not in memory: rows returns a sequence
// for each parent, which Load runs once. Load encodes each row before it asks for the
// next one, so the sequence may reuse its memory. An error that it yields ends the load.
//
// If one parent has more rows than ChunkBytes, they are sent in parts.
func ChildTableSeq[M, D any](name pgx.Identifier, columns []string, rows func(m *M) iter.Seq2[D, error], values func(d *D, row []any) []any) Table[M] {
	t := newTable[M](name, columns, "values", values == nil)
	if rows == nil {
		t.missing = "rows"
	}
	t.rows = func(m *M, to *encoder) error {
		seq := rows(m)
		if seq == nil {
			return nil // no rows
		}
		d := new(D)
		for v, err := range seq {
			if err != nil {
				return to.refuse(err)
			}
			*d = v
			if err := to.add(values(d, to.row())); err != nil {
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

// Nested is a table of rows one level further down: list returns the children of a
// parent, and table says which rows come from each child. So a grandchild's table is
//
//	pgxtype.Nested(func(o *Order) []Line { return o.Lines },
//		pgxtype.ChildTable(name, columns, func(l *Line) []Part { return l.Parts }, values))
//
// For deeper levels, nest again. Load calls list once per parent for each table that
// uses it. It must return the same children each time.
func Nested[M, D any](list func(m *M) []D, table Table[D]) Table[M] {
	t := Table[M]{name: table.name, columns: table.columns, conflict: table.conflict, missing: table.missing}
	if list == nil {
		t.missing = "list"
	}
	if table.rows != nil { // the zero Table stays one
		t.rows = func(m *M, to *encoder) error {
			children := list(m)
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

func newTable[M any](name pgx.Identifier, columns []string, function string, missing bool) Table[M] {
	t := Table[M]{name: slices.Clone(name), columns: slices.Clone(columns)}
	if missing {
		t.missing = function
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

// check adds what is wrong with the table to f.
func (t *Table[M]) check(i int, f *faults) {
	if t.rows == nil {
		f.add("Tables[%d] is the zero Table, use Masters, Details, ChildTableSeq or Nested", i)
		return
	}
	if t.missing != "" {
		f.add("Tables[%d]: function %s is nil", i, t.missing)
	}
	if len(t.name) == 0 || slices.ContainsFunc(t.name, unusable) {
		f.add("Tables[%d]: name %q has an empty part, or a NUL", i, t.name)
	}
	if len(t.columns) == 0 {
		f.add("Tables[%d]: no columns", i)
	}
	for c, name := range t.columns {
		switch {
		case unusable(name):
			f.add("Tables[%d]: column %d, %q, is empty or has a NUL", i, c, name)
		case slices.Index(t.columns, name) < c:
			f.add("Tables[%d]: column %q is there twice", i, name)
		}
	}
	if t.conflict != nil {
		t.conflict.check(i, t.columns, f)
	}
}

// unusable reports whether a name is empty or contains a NUL. pgx would drop the NUL
// and so use another name.
func unusable(name string) bool { return name == "" || strings.ContainsRune(name, 0) }
