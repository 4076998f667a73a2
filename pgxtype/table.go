package pgxtype

import (
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Table says which rows of a table come from a parent of type M. It is made
// by [Masters], [Details], [DetailSeq] or [Nested]; the zero Table is refused by
// [Load].
//
// Table and column names are quoted, so they are case-sensitive and may hold
// any character: a schema is an element of its own, pgx.Identifier{"shop",
// "orders"}.
//
// The function values appends a row's values to row, one for each column, and
// returns it: anything that pgx encodes. Append addresses (&o.ID, &o.Note)
// where you can: a value that is no pointer is copied to the heap once a row.
// The values are encoded before the function is called again, so what they point
// to may be reused by then.
//
// The functions of a Table run on [Load]'s goroutine, for one parent at a time,
// before the next is asked for.
type Table[M any] struct {
	name     pgx.Identifier
	columns  []string
	conflict *Conflict
	rows     func(m *M, to *encoder) error // encodes the rows of m
	missing  string                        // the function that is nil
}

// Masters is the table that has one row for each parent.
func Masters[M any](name pgx.Identifier, columns []string, values func(m *M, row []any) []any) Table[M] {
	t := newTable[M](name, columns, "values", values == nil)
	t.rows = func(m *M, to *encoder) error { return to.add(values(m, to.row())) }
	return t
}

// Details is a table with a row for each of the children that list returns for a
// parent. The list is read before list is called again, and may be reused then.
func Details[M, D any](name pgx.Identifier, columns []string, list func(m *M) []D, values func(d *D, row []any) []any) Table[M] {
	return Nested(list, Masters(name, columns, values))
}

// DetailSeq is [Details] for rows that are not in memory: the sequence is run
// once for each parent. What it yields is encoded before it goes on, and may be
// reused then. An error that it yields ends the load.
//
// If one parent has more rows than ChunkBytes, they are sent in parts.
func DetailSeq[M, D any](name pgx.Identifier, columns []string, rows func(m *M) iter.Seq2[D, error], values func(d *D, row []any) []any) Table[M] {
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

// Nested is a table of rows one level further down: list gives the children of a
// parent, and table says which rows come from each. So a grandchild's table is
//
//	pgxtype.Nested(func(o *Order) []Line { return o.Lines },
//		pgxtype.Details(name, columns, func(l *Line) []Part { return l.Parts }, values))
//
// and any level is reached by nesting again. list is called for each table that
// it is given to, and must return the same children.
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

// Seq makes of a sequence that cannot fail, such as slices.Values(orders), one
// that [Load] takes.
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
		f.add("Tables[%d] is the zero Table, use Masters, Details, DetailSeq or Nested", i)
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

// unusable: pgx drops a NUL from a name, which would make it another's.
func unusable(name string) bool { return name == "" || strings.ContainsRune(name, 0) }
