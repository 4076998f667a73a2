package pgxload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Writer takes the rows of one [Load]. It keeps the first error: after that, it ignores rows, and Load
// fails. Use it only in the function that Load calls, and on one goroutine at a time.
type Writer struct {
	cfg   Config
	ctx   context.Context // of the call of Load
	tx    pgx.Tx
	types *pgtype.Map // strict

	tables   []*Table
	lookedUp int        // for how many tables the columns were looked up
	bytes    int        // in the chunk that is being written
	chunks   int        // before that one
	sending  chan error // receives the outcome of the chunk that is being sent; nil: none is
	panicked any        // the value of a panic in a notice handler while a chunk was sent
	inRow    bool       // a row is being encoded; it stays true if f recovers from a panic of a value
	orphan   error      // for a row that is, or may be, missing in the last table; becomes err if another table follows
	err      error
}

// Err returns the first error, or nil. It also returns an error when Load's ctx is done.
func (w *Writer) Err() error {
	if w.err == nil {
		if err := w.ctx.Err(); err != nil {
			w.err = fmt.Errorf("pgxload: %w", err)
		} else if w.inRow { // the row is missing, or a value would get 0 from NextID
			w.err = errors.New("pgxload: a value has panicked, or used the Writer, in Row")
		}
	}
	return w.err
}

// keep makes err the first error, unless there is one. It reports whether the Writer has no error.
func (w *Writer) keep(err error) bool {
	if w.Err() == nil {
		w.err = err
	}
	return w.err == nil
}

// NextID returns the next id of [Config.Source]. If the Source fails, it returns 0 and keeps the error, so
// Load fails.
func (w *Writer) NextID() (id sqltype.ID) {
	if w.Err() != nil {
		return 0
	}
	err := errors.New("Config.Source is required")
	if w.cfg.Source != nil {
		id, err = sqltype.NextID(w.ctx, w.cfg.Source)
	}
	if err != nil {
		w.err = fmt.Errorf("pgxload: NextID: %w", err)
	}
	return id
}

// run calls f and sends the last chunk.
func (w *Writer) run(f func(*Writer) error) error {
	defer func() { w.err = errors.New("pgxload: the Writer's function has returned") }()
	defer w.wait() // also if f panics: a rollback needs the connection
	err := f(w)
	if err == nil && w.Err() == nil && w.lookUpColumns() {
		w.flush()
	}
	w.wait()
	if failed := w.Err(); err == nil {
		err = failed
	} else if failed != nil && !errors.Is(err, failed) {
		err = fmt.Errorf("%w; before that: %w", err, failed)
	}
	if done := w.ctx.Err(); err != nil && done != nil && !errors.Is(err, done) {
		err = fmt.Errorf("%w; %w", err, done) // pgx may return what followed: a cancelled statement, a closed connection
	}
	return err
}

// flush sends the chunk on another goroutine, after the previous chunk.
func (w *Writer) flush() {
	if !w.wait() || w.bytes == 0 {
		return
	}
	for _, t := range w.tables {
		spare := 2 * w.cfg.ChunkBytes
		if t.rows.count() == 0 { // the table may be finished
			spare = 0
		}
		t.rows, t.out = t.out, t.rows
		t.rows.reset(t.out.first+int64(t.out.count()), spare)
	}
	c := &chunk{w: w, tables: w.tables, number: w.chunks}
	w.bytes, w.chunks, w.sending = 0, w.chunks+1, make(chan error, 1)
	go func() {
		err := errors.New("pgxload: a handler of notices or a tracer has stopped the load")
		defer func() { w.panicked = recover(); w.sending <- err }()
		err = c.send()
	}()
}

// wait waits until no chunk is being sent. It reports whether the Writer has no error.
func (w *Writer) wait() bool {
	if w.sending != nil {
		err := <-w.sending
		w.sending = nil
		if err != nil && w.err == nil {
			w.err = err // set before the panic, from which f may recover
		}
		if w.panicked != nil {
			panic(w.panicked)
		}
		if err == nil && w.cfg.Progress != nil {
			w.cfg.Progress(w.loaded())
		}
	}
	return w.err == nil
}

func (w *Writer) loaded() (l Loaded) {
	for _, t := range w.tables {
		l.Tables = append(l.Tables, t.loaded)
		l.Rows += t.loaded
	}
	return l
}

// Table is a table or a view that a [Writer] writes to.
type Table struct {
	w        *Writer
	name     string // as the caller wrote it
	columns  []string
	conflict *Conflict
	ident    pgx.Identifier // as the server knows it
	types    []column       // nil: not yet known
	primary  []string       // the columns of the primary key; none if the load does not write all of them

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

func (t *Table) encode(row []any) error {
	r := &t.rows
	fail := func(column string, err error) error { return t.errorAt(r.first+int64(r.count()), column, err) }
	if len(row) != len(t.columns) {
		return fail("", fmt.Errorf("%d values for %d columns", len(row), len(t.columns)))
	}
	buf := binary.BigEndian.AppendUint16(r.buf, uint16(len(row)))
	for c, v := range row {
		var err error
		if buf, err = t.types[c].append(t.w.types, v, buf); err != nil {
			return fail(t.columns[c], err)
		}
	}
	if size := len(buf) - len(r.buf); size > maxChunkBytes {
		return fail("", fmt.Errorf("the row has %d bytes, more than %d", size, maxChunkBytes))
	}
	r.buf, r.ends = buf, append(r.ends, len(buf))
	return nil
}

func (t *Table) copies() bool { return t.w.cfg.Method == Copy && t.conflict == nil }

// rows holds encoded rows, and no memory of the caller. They are in COPY's binary format, whose fields
// look like the elements of a binary array: https://www.postgresql.org/docs/current/sql-copy.html
type rows struct {
	buf   []byte // begins with copyHead
	ends  []int  // the ends of copyHead and of each row
	first int64  // how many rows of the table came before
}

// copyHead begins a COPY: signature, flags, and the length of an extension. copyEnd ends it.
const (
	copyHead = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	copyEnd  = "\xff\xff"
)

func (r *rows) count() int { return len(r.ends) - 1 }

func (r *rows) part(from, to int) []byte { return r.buf[r.ends[from]:r.ends[to]] }

// reset drops the rows, and also their memory if it is more than keep bytes.
func (r *rows) reset(first int64, keep int) {
	if cap(r.buf) > keep {
		r.buf, r.ends = nil, nil
	}
	r.buf = append(r.buf[:0], copyHead...)
	r.ends, r.first = append(r.ends[:0], len(r.buf)), first
}
