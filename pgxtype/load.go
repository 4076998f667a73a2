package pgxtype

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// A Beginner begins the transaction that [Load] works in: a *pgxpool.Pool, a
// *pgx.Conn, or a pgx.Tx, within which it is a savepoint.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// A Method is a way to send rows.
type Method uint8

const (
	// Copy sends them with COPY, table by table. A table with OnConflict is sent
	// as by Unnest, because COPY has no ON CONFLICT.
	Copy Method = iota
	// Unnest sends them as INSERT … SELECT unnest(…), all tables of a chunk in
	// one round trip. It is for tables that COPY refuses (those with row level
	// security, views with rules) and for links with a long delay. Columns of an
	// array or composite type cannot be loaded with it. Each chunk is a savepoint.
	// Where a row is refused, parts of its table are sent again to find it: each
	// half as large as the part before, and all of them undone. The statements
	// bypass pgx's tracers.
	Unnest
)

// LoadConfig says where rows go and how. Only Tables must be set.
type LoadConfig[M any] struct {
	Tables     []Table[M]   // parents before those that refer to them
	Method     Method       // zero: Copy
	ChunkRows  int          // zero: 25,000; rows of all tables, or masters, after which those read are sent
	ChunkBytes int          // zero: 16 MiB; bytes of such rows as they are sent, after which the same is done
	Progress   func(Loaded) // nil: none; called each time that rows were sent, on Load's goroutine
}

const (
	defaultChunkRows  = 25_000
	defaultChunkBytes = 16 << 20
)

// Loaded counts what was loaded. While Load runs nothing of it is committed yet,
// and beside ErrOutcomeUnknown it counts what may be there.
type Loaded struct {
	Masters int64   // taken from the sequence
	Rows    int64   // of all tables, as PostgreSQL counts them: a trigger may drop some, and OnConflict skips some
	Tables  []int64 // of each table, in the order of LoadConfig.Tables
}

// Load writes masters and their details, keys and foreign keys assigned
// beforehand (see sqltype.Assign), in one transaction that it commits.
//
// The sequence is run once. The rows of a master are encoded in all tables before
// the sequence goes on, and nothing else of it is kept: the sequence may yield the
// same memory again and again, with what it points to (slices, byte slices,
// pointers, children and theirs), and overwrite it as soon as it is called again.
//
// Masters are read until their rows number ChunkRows or ChunkBytes; then the rows
// of the first table are sent, then those of the second, and so on, before more
// masters are read. So memory is bounded by a chunk and one master, and a foreign
// key finds its parent: it may refer to rows of the same master, of masters before
// it, and of the same chunk if the tables are in order. Only a master that alone has
// ChunkBytes is sent in parts, by Unnest or where a [DetailSeq] gives its rows: they
// find their parents, but not always a later row of their own table.
//
// On an error nothing stays in the database. A row at fault is named by a
// [LoadError]: by PostgreSQL's own word where COPY gives one, else by the key
// in its message, and with Unnest by trial; a constraint that is checked at COMMIT
// names its table only, and in a pgx.Tx it is the caller's COMMIT that gives its
// error. An error of the sequence is returned wrapped, with the master's index. If
// COMMIT was sent and not answered, the error is [ErrOutcomeUnknown]. A panic in a
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
	l := &loader{ctx: ctx, tx: tx, types: tx.Conn().TypeMap(), method: cfg.Method, chunkRows: cfg.ChunkRows, chunkBytes: cfg.ChunkBytes, progress: cfg.Progress}
	for i, t := range cfg.Tables {
		l.tables = append(l.tables, &encoder{load: l, table: i, name: t.name, columns: t.columns, conflict: t.conflict})
	}
	l.loaded.Tables = make([]int64, len(cfg.Tables))
	_, nested := db.(pgx.Tx)
	if within, ok := db.(*attemptTx); ok {
		l.taken, l.seen = within.attempt.next(cfg.names()), make([]bool, len(cfg.Tables))
	}
	sent := false
	err = inTx(ctx, tx, nested, func() error {
		err := l.same(func() error { return run(l, cfg.Tables, masters) })
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
	if cfg.ChunkBytes < 0 || cfg.ChunkBytes > maxChunkBytes {
		f.add("ChunkBytes %d: must be from 0 to %d", cfg.ChunkBytes, maxChunkBytes)
	}
	if cfg.ChunkRows == 0 {
		cfg.ChunkRows = defaultChunkRows
	}
	if cfg.ChunkBytes == 0 {
		cfg.ChunkBytes = defaultChunkBytes
	}
	return f.err("Load")
}

func (cfg *LoadConfig[M]) names() []pgx.Identifier {
	names := make([]pgx.Identifier, len(cfg.Tables))
	for i := range cfg.Tables {
		names[i] = cfg.Tables[i].name
	}
	return names
}

// run reads the masters. It keeps none: not even the variable is another for each.
func run[M any](l *loader, tables []Table[M], masters iter.Seq2[M, error]) error {
	if err := l.describe(); err != nil {
		return err
	}
	m := new(M)
	for next, err := range masters {
		if err == nil {
			err = l.ctx.Err()
		}
		if err != nil {
			return l.failMaster(err)
		}
		*m = next
		for i := range tables {
			if err := tables[i].rows(m, l.tables[i]); err != nil {
				return err
			}
		}
		if err := l.read(); err != nil {
			return err
		}
	}
	if l.masters > 0 {
		return l.send()
	}
	return l.ctx.Err()
}

// loader is one call of Load.
type loader struct {
	ctx        context.Context // it lives as long as the call
	tx         pgx.Tx
	types      *pgtype.Map
	method     Method
	chunkRows  int
	chunkBytes int
	progress   func(Loaded)

	tables  []*encoder
	loaded  Loaded
	masters int // read, and not counted in loaded yet
	rows    int // encoded and not sent yet
	bytes   int // of those rows
	before  int // of those, what the masters have that were read

	taken *taken // within Retry
	seen  []bool // by table, whether its first row was compared
}

// read is called when all rows of a master are encoded.
func (l *loader) read() error {
	for _, t := range l.tables {
		t.ends = append(t.ends, t.rows)
	}
	l.masters++
	l.before = l.bytes
	if l.rows >= l.chunkRows || l.masters >= l.chunkRows || l.bytes >= l.chunkBytes {
		return l.send()
	}
	return nil
}

// send writes the rows that were encoded, and begins anew.
func (l *loader) send() error {
	for i := 0; i < len(l.tables); {
		end := i + 1
		var err error
		if l.tables[i].copies() {
			err = l.copyTable(l.tables[i])
		} else {
			for end < len(l.tables) && !l.tables[end].copies() {
				end++
			}
			err = l.insertTables(l.tables[i:end])
		}
		if err != nil {
			return err
		}
		i = end
	}
	l.loaded.Masters += int64(l.masters)
	l.masters, l.rows, l.bytes, l.before = 0, 0, 0, 0
	for _, t := range l.tables {
		t.reset()
	}
	if l.progress != nil {
		now := l.loaded
		now.Tables = slices.Clone(now.Tables)
		l.progress(now)
	}
	return nil
}

func (l *loader) count(table int, rows int64) {
	l.loaded.Rows += rows
	l.loaded.Tables[table] += rows
}

// failMaster makes an error of no table.
func (l *loader) failMaster(err error) error {
	return fmt.Errorf("pgxtype: load: master %d: %w", l.loaded.Masters+int64(l.masters), err)
}

// fail makes an error of one table; a row of -1 is not known, and is otherwise
// counted among those that were not sent yet.
func (l *loader) fail(table, row int, columnName string, err error) *LoadError {
	t := l.tables[table]
	e := &LoadError{Table: t.name, Row: -1, Master: -1, Column: columnName, Err: err}
	if row >= 0 {
		before, _ := slices.BinarySearch(t.ends, row+1)
		e.Row, e.Master = t.sent+int64(row), l.loaded.Masters+int64(before)
	}
	return e
}
