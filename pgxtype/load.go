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

// A Beginner begins the transaction of [Load]: a *pgxpool.Pool, a
// *pgx.Conn, or a pgx.Tx, in which Load uses a savepoint.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// A Method is a way to send rows.
type Method uint8

const (
	// Copy sends rows with COPY, table by table. A table with OnConflict is sent
	// as with Unnest, because COPY has no ON CONFLICT.
	Copy Method = iota
	// Unnest sends rows as INSERT … SELECT unnest(…), all tables of a chunk in
	// one round trip. Use it for tables that COPY refuses (tables with row level
	// security, views with rules) and for connections with a high latency. It cannot
	// load columns of an array or composite type. Each chunk has a savepoint.
	// If a row is refused, Load finds it by binary search: it sends parts of the
	// table again, each half as large as the one before, and undoes them. The
	// statements bypass pgx's tracers.
	Unnest
)

// LoadConfig says where rows go and how. Only Tables must be set.
type LoadConfig[M any] struct {
	Tables     []Table[M]   // parents before those that refer to them
	Method     Method       // zero: Copy
	ChunkRows  int          // zero: 25,000; rows are sent when there are this many of all tables, or this many masters
	ChunkBytes int          // zero: 16 MiB; rows are also sent when their encoded form has this many bytes
	Progress   func(Loaded) // nil: none; called on Load's goroutine after rows were sent
}

const (
	defaultChunkRows  = 25_000
	defaultChunkBytes = 16 << 20
)

// Loaded counts what was loaded. While Load runs, nothing is committed yet. With
// ErrOutcomeUnknown, it counts what may have been committed.
type Loaded struct {
	Parents int64   // taken from the sequence
	Rows    int64   // of all tables, as PostgreSQL counts them: without rows that a trigger drops or OnConflict skips
	Tables  []int64 // of each table, in the order of LoadConfig.Tables
}

// Load writes masters and their details in one transaction, and commits it. Keys and
// foreign keys must be assigned beforehand (see sqltype.Assign).
//
// Load runs the sequence once. It encodes all rows of a master before it asks for the
// next one, and keeps nothing else of it. So the sequence may reuse the memory of a
// master, and all that it points to (slices, byte slices, pointers, children), for the
// next one.
//
// When the rows reach ChunkRows or ChunkBytes, Load sends the rows of the first table,
// then those of the second, and so on, before it reads more masters. So memory is
// bounded by one chunk and one master. If the tables are in order, a foreign key may
// refer to rows of the same master, of earlier masters, and of the same chunk. With
// Unnest or a [ChildTableSeq], a master that alone has ChunkBytes is sent in parts: its rows
// may refer to their parents, but not always to a later row of their own table.
//
// On an error nothing stays in the database. A [LoadError] names the row at fault, which
// Load finds by the context of COPY's error, by the key in PostgreSQL's message, or, with
// Unnest, by trial. For a constraint that is checked at COMMIT it names only the table;
// in a pgx.Tx, the caller's COMMIT returns that error. An error of the sequence is
// returned wrapped, with the master's index. If COMMIT was sent and not answered, the
// error is [ErrOutcomeUnknown]. If a function of the caller panics or calls
// runtime.Goexit, as t.Fatal does, Load rolls back and then lets it continue.
//
// Load returns when ctx is done, between rows and while it waits for the server. In a
// pgx.Tx it then rolls back to the savepoint. If that fails, it closes the connection.
//
// Load works with and without [Register], and in every mode of execution. While it runs,
// the sequence and the functions must not use the connection of tx.
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

// run reads the masters. It keeps none, and uses one variable for all.
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
	masters int // read, and not yet counted in loaded
	rows    int // encoded and not yet sent
	bytes   int // of those rows
	before  int // bytes without the current master's

	taken *taken // within Retry
	seen  []bool // by table: its first row was compared
}

// read counts a master when all its rows are encoded.
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

// send sends the encoded rows and resets the encoders.
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
	l.loaded.Parents += int64(l.masters)
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

// failMaster makes an error that names the current master and no table.
func (l *loader) failMaster(err error) error {
	return fmt.Errorf("pgxtype: load: master %d: %w", l.loaded.Parents+int64(l.masters), err)
}

// fail makes an error of one table. The row is an index among the rows that were not
// yet sent; -1 means that it is not known.
func (l *loader) fail(table, row int, columnName string, err error) *LoadError {
	t := l.tables[table]
	e := &LoadError{Table: t.name, Row: -1, Parent: -1, Column: columnName, Err: err}
	if row >= 0 {
		before, _ := slices.BinarySearch(t.ends, row+1)
		e.Row, e.Parent = t.sent+int64(row), l.loaded.Parents+int64(before)
	}
	return e
}
