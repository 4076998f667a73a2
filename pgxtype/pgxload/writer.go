package pgxload

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

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
