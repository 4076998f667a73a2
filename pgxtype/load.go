package pgxtype

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"
)

// A Beginner begins the transaction that [Load] works in: a *pgxpool.Pool, a
// *pgx.Conn, or a pgx.Tx, within which it is a savepoint.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// A Method is a way to send rows.
type Method uint8

const (
	// Copy sends them with COPY, table by table.
	Copy Method = iota
	// Unnest sends them as INSERT … SELECT unnest(…), all tables of a chunk in
	// one round trip. It is for tables that COPY refuses (those with row level
	// security, views with rules) and for links with a long delay. Columns of an
	// array or composite type cannot be loaded with it. Each chunk is a savepoint, and its rows
	// are held encoded in memory. Where a row is refused the chunk is sent once
	// more by COPY, only to learn which one it is. The statements pass by pgx's
	// tracers.
	Unnest
)

// LoadConfig says where rows go and how. Only Tables must be set.
type LoadConfig[M any] struct {
	Tables    []Table[M]   // parents before those that refer to them
	Method    Method       // zero: Copy
	ChunkRows int          // zero: 25,000; rows of all tables after which those read are sent
	Progress  func(Loaded) // nil: none; called after each chunk, on Load's goroutine
}

const defaultChunkRows = 25_000

// Loaded counts what was loaded. While Load runs nothing of it is committed yet,
// and beside ErrOutcomeUnknown it counts what may be there.
type Loaded struct {
	Masters int64   // taken from the sequence
	Rows    int64   // of all tables, as PostgreSQL counts them: a trigger may drop some
	Tables  []int64 // of each table, in the order of LoadConfig.Tables
}

// Load writes masters and their details, keys and foreign keys assigned
// beforehand (see sqltype.Assign), in one transaction that it commits.
//
// The sequence is run once and never held as a whole. Masters are read until
// their rows number ChunkRows; then the rows of the first table are sent, then
// those of the second, and so on, before more masters are read. So memory is
// bounded by a chunk, or by the largest single master, and a foreign key finds
// its parent: it may refer to rows of the same master, of masters before it, and
// of the same chunk if the tables are in order.
//
// On an error nothing stays in the database. A row at fault is named by a
// [LoadError]: by PostgreSQL's own word where COPY gives one, else by the key
// in its message; a constraint that is checked at COMMIT names its table only, and
// in a pgx.Tx it is the caller's COMMIT that gives its error. An error of the sequence is returned wrapped, with the master's index. If COMMIT
// was sent and not answered, the error is [ErrOutcomeUnknown]. A panic in a
// function of the caller's goes on after the rollback, and so does runtime.Goexit,
// by which t.Fatal ends a test.
//
// Between rows and while it waits for the server, Load ends when ctx does. In a
// pgx.Tx its rows are then undone up to the savepoint, or, where that cannot be
// done, the connection is closed.
//
// It works with and without [Register] having been called, and in every mode of
// execution. It uses the connection of tx alone: the sequence and the
// functions must not.
func Load[M any](ctx context.Context, db Beginner, masters iter.Seq2[M, error], cfg LoadConfig[M]) (Loaded, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := cfg.check(db, masters == nil); err != nil {
		return Loaded{}, err
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return Loaded{}, fmt.Errorf("pgxtype: load: begin: %w", err)
	}
	l := &loader[M]{ctx: ctx, tx: tx, cfg: cfg, rows: make([]int64, len(cfg.Tables))}
	l.loaded.Tables = make([]int64, len(cfg.Tables))
	_, nested := db.(pgx.Tx)
	if within, ok := db.(*attemptTx); ok {
		l.taken, l.seen = within.attempt.next(cfg.names()), make([]bool, len(cfg.Tables))
	}
	sent := false
	err = inTx(ctx, tx, nested, func() error {
		err := l.same(l.run(masters))
		sent = err == nil
		return err
	})
	if sent {
		err = atCommit(err, cfg.names())
	}
	if err == nil || errors.Is(err, ErrOutcomeUnknown) {
		return l.loaded, err
	}
	return Loaded{}, err
}

func (cfg *LoadConfig[M]) check(db Beginner, noMasters bool) error {
	var f faults
	if isNil(db) {
		f.add("db is nil")
	}
	if noMasters {
		f.add("masters is nil")
	}
	if len(cfg.Tables) == 0 {
		f.add("Tables is empty")
	}
	for i := range cfg.Tables {
		cfg.Tables[i].check(i, &f)
	}
	if cfg.Method > Unnest {
		f.add("Method %d: must be Copy or Unnest", cfg.Method)
	}
	if cfg.ChunkRows < 0 {
		f.add("ChunkRows %d: must not be negative", cfg.ChunkRows)
	}
	if cfg.ChunkRows == 0 {
		cfg.ChunkRows = defaultChunkRows
	}
	return f.err("Load")
}

// loader is one call of Load.
type loader[M any] struct {
	ctx     context.Context // it lives as long as the call
	tx      pgx.Tx
	cfg     LoadConfig[M]
	columns [][]column // by table
	loaded  Loaded
	chunk   []M
	rows    []int64 // by table, given to PostgreSQL in the chunks before this one
	insert  *inserter
	taken   *taken // within Retry
	seen    []bool // by table, whether its first row was compared
}

func (l *loader[M]) run(masters iter.Seq2[M, error]) error {
	if err := l.describe(); err != nil {
		return err
	}
	rows := 0
	for m, err := range masters {
		if err == nil {
			err = l.ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("pgxtype: load: master %d: %w", l.loaded.Masters+int64(len(l.chunk)), err)
		}
		l.chunk = append(l.chunk, m)
		own := &l.chunk[len(l.chunk)-1]
		for i := range l.cfg.Tables {
			n := l.cfg.Tables[i].count(own)
			rows += n
			if n > 0 {
				if err := l.peek(i, l.chunk[len(l.chunk)-1:]); err != nil {
					return err
				}
			}
		}
		if rows >= l.cfg.ChunkRows || len(l.chunk) >= l.cfg.ChunkRows {
			if err := l.send(); err != nil {
				return err
			}
			rows = 0
		}
	}
	if len(l.chunk) > 0 {
		return l.send()
	}
	return l.ctx.Err()
}

// send writes the chunk and begins another.
func (l *loader[M]) send() error {
	var err error
	if l.cfg.Method == Unnest {
		err = l.unnestChunk()
	} else {
		err = l.copyChunk()
	}
	if err != nil {
		return err
	}
	l.loaded.Masters += int64(len(l.chunk))
	clear(l.chunk) // what masters point to can go
	l.chunk = l.chunk[:0]
	if l.cfg.Progress != nil {
		now := l.loaded
		now.Tables = slices.Clone(now.Tables)
		l.cfg.Progress(now)
	}
	return nil
}

func (l *loader[M]) count(table int, rows int64) {
	l.loaded.Rows += rows
	l.loaded.Tables[table] += rows
}

// fail makes an error of one table; a row of -1 is not known, and is otherwise
// counted within the chunk.
func (l *loader[M]) fail(table, row int, src *source[M], columnName string, err error) *LoadError {
	e := &LoadError{Table: l.cfg.Tables[table].name, Row: -1, Master: -1, Column: columnName, Err: err}
	if row >= 0 {
		e.Row = l.rows[table] + int64(row)
		e.Master = l.loaded.Masters + int64(src.master(row))
	}
	return e
}

func (cfg *LoadConfig[M]) names() []pgx.Identifier {
	names := make([]pgx.Identifier, len(cfg.Tables))
	for i := range cfg.Tables {
		names[i] = cfg.Tables[i].name
	}
	return names
}
