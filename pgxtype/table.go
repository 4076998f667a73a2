package pgxtype

import (
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Table says which rows of a table come from a master of type M. It is made
// by [Masters], [Details] or [DetailSeq]; the zero Table is refused by [Load].
//
// Table and column names are quoted, so they are case-sensitive and may hold
// any character: a schema is an element of its own, pgx.Identifier{"shop",
// "orders"}.
//
// The function values appends a row's values to row, one for each column, and
// returns it: anything that pgx encodes. Append addresses (&o.ID, &o.Note)
// where you can: a value that is no pointer is copied to the heap once a row.
// The values are encoded before the function is called again.
//
// The functions of a Table run while rows are sent, on another goroutine than
// [Load]'s, though never two at a time.
type Table[M any] struct {
	name    pgx.Identifier
	columns []string
	cursor  func() cursor[M]
	count   func(*M) int // rows of a master, where that is known beforehand
	missing string       // the function that is nil
}

// A cursor gives the rows of one master after another.
type cursor[M any] interface {
	reset(m *M)
	next(row []any) (values []any, ok bool, err error)
	close()
}

// Masters is the table that has one row for each master.
func Masters[M any](name pgx.Identifier, columns []string, values func(m *M, row []any) []any) Table[M] {
	t := Table[M]{name: slices.Clone(name), columns: slices.Clone(columns)}
	if values == nil {
		t.missing = "values"
	}
	t.cursor = func() cursor[M] { return &masterCursor[M]{values: values} }
	t.count = func(*M) int { return 1 }
	return t
}

// Details is a table with a row for each of the details that list returns for a
// master. list may be called more than once for one master and must give the
// same rows each time. Details of details are listed by a function that joins
// them, or by [DetailSeq].
func Details[M, D any](name pgx.Identifier, columns []string, list func(m *M) []D, values func(d *D, row []any) []any) Table[M] {
	t := Table[M]{name: slices.Clone(name), columns: slices.Clone(columns)}
	switch {
	case list == nil:
		t.missing = "list"
	case values == nil:
		t.missing = "values"
	}
	t.cursor = func() cursor[M] { return &listCursor[M, D]{list: list, values: values} }
	t.count = func(m *M) int { return len(list(m)) }
	return t
}

// DetailSeq is [Details] for rows that are not in memory: the sequence is run
// while they are sent, once as a rule, and again where a row that PostgreSQL
// refused is looked for, and in [Retry] for its first row if an attempt has failed
// before any was sent. An error that it yields ends the load.
func DetailSeq[M, D any](name pgx.Identifier, columns []string, rows func(m *M) iter.Seq2[D, error], values func(d *D, row []any) []any) Table[M] {
	t := Table[M]{name: slices.Clone(name), columns: slices.Clone(columns)}
	switch {
	case rows == nil:
		t.missing = "rows"
	case values == nil:
		t.missing = "values"
	}
	t.cursor = func() cursor[M] { return &seqCursor[M, D]{rows: rows, values: values} }
	t.count = func(*M) int { return 0 }
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
	if t.cursor == nil {
		f.add("Tables[%d] is the zero Table, use Masters, Details or DetailSeq", i)
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
}

// unusable: pgx drops a NUL from a name, which would make it another's.
func unusable(name string) bool { return name == "" || strings.ContainsRune(name, 0) }

type masterCursor[M any] struct {
	values func(*M, []any) []any
	m      *M
}

func (c *masterCursor[M]) reset(m *M) { c.m = m }

func (c *masterCursor[M]) next(row []any) ([]any, bool, error) {
	if c.m == nil {
		return row, false, nil
	}
	row = c.values(c.m, row)
	c.m = nil
	return row, true, nil
}

func (c *masterCursor[M]) close() {}

type listCursor[M, D any] struct {
	list   func(*M) []D
	values func(*D, []any) []any
	rows   []D
}

func (c *listCursor[M, D]) reset(m *M) { c.rows = c.list(m) }

func (c *listCursor[M, D]) next(row []any) ([]any, bool, error) {
	if len(c.rows) == 0 {
		return row, false, nil
	}
	row = c.values(&c.rows[0], row)
	c.rows = c.rows[1:]
	return row, true, nil
}

func (c *listCursor[M, D]) close() {}

type seqCursor[M, D any] struct {
	rows   func(*M) iter.Seq2[D, error]
	values func(*D, []any) []any
	pull   func() (D, error, bool)
	stop   func()
	d      D
}

func (c *seqCursor[M, D]) reset(m *M) {
	c.close()
	if seq := c.rows(m); seq != nil { // nil: no rows
		c.pull, c.stop = iter.Pull2(seq)
	}
}

func (c *seqCursor[M, D]) next(row []any) ([]any, bool, error) {
	if c.pull == nil {
		return row, false, nil
	}
	d, err, ok := c.pull()
	if !ok || err != nil {
		return row, false, err
	}
	c.d = d
	return c.values(&c.d, row), true, nil
}

func (c *seqCursor[M, D]) close() {
	if c.stop != nil {
		c.stop()
	}
	c.pull, c.stop = nil, nil
}
