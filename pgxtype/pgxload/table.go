package pgxload

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Table is a table or a view that a [Writer] writes to.
type Table struct {
	w        *Writer
	name     string // as the caller wrote it
	columns  []string
	conflict *Conflict
	ident    pgx.Identifier // as the server knows it
	types    []column       // nil: not yet known
	primary  []string       // the columns of the primary key; none if the load does not write all of them
	missing  error          // for a row that is, or may be, missing; it counts if a table follows

	values []any // of the row that is being encoded
	rows   rows  // that are being written
	out    rows  // that are being sent
	loaded int64 // counted by PostgreSQL
}

// Table names a table and the columns that each row has. Name a table after those that it refers to,
// because rows are sent in the order of these calls.
//
// The table's name is read as in SQL, such as orders, shop.orders or "Orders". A column's name is taken
// literally. A name that does not exist is an error at the table's first row, or at the end of Load if it
// has no rows.
func (w *Writer) Table(name string, columns ...string) *Table {
	t := &Table{w: w, name: name, columns: slices.Clone(columns)}
	t.rows.reset(0, 0)
	t.out.reset(0, 0)
	if len(columns) == 0 {
		w.keep(fields.Error("pgxload: Table "+name, "columns", nil, "is required"))
	}
	if w.Err() == nil {
		w.tables = append(w.tables, t)
	}
	return t
}

// Row writes a row with a value for each column. A value is anything that pgx encodes, or a pointer to
// it; nil and a nil pointer are NULL. A value that would be stored as another one, such as 1.5 in a bigint,
// is an error. [Writer.Err] and Load return the error.
//
// You may reuse the values' memory when Row returns. For a column of the same type, a pointer to an ID, a
// Key, a string, an int, an int32, an int64, a float64 or a time.Time costs no allocation; most others
// cost one.
func (t *Table) Row(values ...any) {
	w := t.w
	if w.Err() != nil || t.types == nil && !w.lookUpColumns() {
		return
	}
	t.values = append(t.values[:0], values...) // so that the caller's slice stays on its stack
	before := len(t.rows.buf)
	w.inRow = true
	err := t.encode(t.values)
	w.inRow = false
	if w.err == nil { // else a value has used the Writer
		w.err = err
	}
	w.bytes += len(t.rows.buf) - before
	full := min(w.cfg.ChunkBytes, 1<<20<<min(w.chunks, 8)) // the first chunks are smaller
	if w.bytes >= 2*w.cfg.ChunkBytes || w.bytes >= full && t == w.tables[0] {
		w.flush()
	}
}

func (t *Table) copies() bool { return t.w.cfg.Method == Copy && t.conflict == nil }
