package pgxtype

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Beginner begins the transaction of [Load]: a *pgxpool.Pool, a *pgx.Conn, or a pgx.Tx, in which
// Load uses a savepoint.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Method is how Load sends rows.
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

// LoadConfig configures [Load]. Only Tables is required.
type LoadConfig[P any] struct {
	Tables     []Table[P]   // parents before those that refer to them
	Method     Method       // zero: Copy
	ChunkRows  int          // rows of all tables, or parents, after which rows are sent; zero: 25,000
	ChunkBytes int          // bytes of encoded rows after which rows are sent; zero: 16 MiB
	Progress   func(Loaded) // called on Load's goroutine after rows were sent; nil: none
}

const (
	defaultChunkRows  = 25_000
	defaultChunkBytes = 16 << 20
)

// Loaded counts what was loaded. While Load runs, nothing is committed yet. With
// ErrOutcomeUnknown, it counts what may have been committed.
type Loaded struct {
	Parents int64   // read from the sequence
	Rows    int64   // of all tables, as PostgreSQL counts them: without rows that a trigger drops or OnConflict skips
	Tables  []int64 // of each table, in the order of LoadConfig.Tables
}

// Load writes parent rows and their children in one transaction, and commits it. Keys and foreign
// keys must be assigned beforehand (see sqltype.Assign).
//
// Load runs the sequence once. It encodes all rows of a parent before it asks for the next one, and
// keeps nothing else of it. So the sequence may reuse the memory of a parent, and all that it
// points to (slices, byte slices, pointers, children), for the next one.
//
// When the rows reach ChunkRows or ChunkBytes, Load sends the rows of the first table, then those
// of the second, and so on, before it reads more parents. So memory is limited to one chunk and
// one parent. If the tables are in order, a foreign key may refer to rows of the same parent, of
// earlier parents, and of the same chunk. With Unnest or a [ChildTableSeq], a parent that alone
// has ChunkBytes is sent in parts: its rows may refer to their parents, but not always to a
// later row of their own table.
//
// On an error nothing stays in the database. A [LoadError] names the row, as far as it is known. For
// a constraint that is checked at COMMIT it names only the table; in a pgx.Tx, the caller's
// COMMIT returns that error. An error of the sequence is wrapped, with the parent's index. If
// COMMIT was sent and not answered, the error is [ErrOutcomeUnknown]. If a function of the caller
// panics or calls runtime.Goexit, as t.Fatal does, Load rolls back and the panic continues.
//
// Load returns when ctx is done. In a pgx.Tx it then rolls back to the savepoint; if that fails, it
// closes the connection. Load works with and without [Register], and in every mode of execution.
// While it runs, the sequence and the functions must not use the connection of tx.
func Load[P any](ctx context.Context, db Beginner, parents iter.Seq2[P, error], cfg LoadConfig[P]) (Loaded, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := cfg.check(db, parents == nil); err != nil {
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
		l.replay, l.seen = within.attempt.next(cfg.names()), make([]bool, len(cfg.Tables))
	}
	sent := false
	err = inTx(ctx, tx, nested, func() error {
		err := l.same(func() error { return run(l, cfg.Tables, parents) })
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

func (cfg *LoadConfig[P]) check(db Beginner, noParents bool) error {
	var wrong fields.Errors
	if fields.IsNil(db) {
		wrong.Add("db", nil, "is required")
	}
	if noParents {
		wrong.Add("parents", nil, "is required")
	}
	if len(cfg.Tables) == 0 {
		wrong.Add("Tables", nil, "is required")
	}
	for i := range cfg.Tables {
		cfg.Tables[i].check(fmt.Sprintf("Tables[%d]", i), &wrong)
	}
	if cfg.Method > Unnest {
		wrong.Add("Method", cfg.Method, "must be Copy or Unnest")
	}
	if cfg.ChunkRows < 0 {
		wrong.Add("ChunkRows", cfg.ChunkRows, "must not be negative")
	}
	if cfg.ChunkBytes < 0 || cfg.ChunkBytes > maxChunkBytes {
		wrong.Add("ChunkBytes", cfg.ChunkBytes, "must be 0 to %d", maxChunkBytes)
	}
	cfg.ChunkRows = cmp.Or(cfg.ChunkRows, defaultChunkRows)
	cfg.ChunkBytes = cmp.Or(cfg.ChunkBytes, defaultChunkBytes)
	return wrong.Err("pgxtype")
}

func (cfg *LoadConfig[P]) names() []pgx.Identifier {
	names := make([]pgx.Identifier, len(cfg.Tables))
	for i := range cfg.Tables {
		names[i] = cfg.Tables[i].name
	}
	return names
}

// run reads the parents into one variable.
func run[P any](l *loader, tables []Table[P], parents iter.Seq2[P, error]) error {
	if err := l.describe(); err != nil {
		return err
	}
	parent := new(P)
	for next, err := range parents {
		if err == nil {
			err = l.ctx.Err()
		}
		if err != nil {
			return l.failParent(err)
		}
		*parent = next
		for i := range tables {
			if err := tables[i].rows(parent, l.tables[i]); err != nil {
				return err
			}
		}
		if err := l.read(); err != nil {
			return err
		}
	}
	if l.parents > 0 {
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
	parents int // read, and not yet counted in loaded
	rows    int // encoded and not yet sent
	bytes   int // of those rows
	before  int // bytes without the current parent's

	replay *rowsRead // within Retry
	seen   []bool    // by table: its first row was compared
}

// read counts a parent when all its rows are encoded.
func (l *loader) read() error {
	for _, t := range l.tables {
		t.ends = append(t.ends, t.rows)
	}
	l.parents++
	l.before = l.bytes
	if l.rows >= l.chunkRows || l.parents >= l.chunkRows || l.bytes >= l.chunkBytes {
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
	l.loaded.Parents += int64(l.parents)
	l.parents, l.rows, l.bytes, l.before = 0, 0, 0, 0
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

// failParent makes an error that names the current parent and no table.
func (l *loader) failParent(err error) error {
	return fmt.Errorf("pgxtype: load: parent %d: %w", l.loaded.Parents+int64(l.parents), err)
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
