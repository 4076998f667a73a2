package pgxload

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Beginner is a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx. In a pgx.Tx, [Load] uses a savepoint.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Method says how rows are sent.
type Method uint8

const (
	// Copy sends rows with COPY, or like Unnest if the table has an OnConflict.
	Copy Method = iota
	// Unnest sends rows with INSERT … SELECT unnest(…). It also works where COPY does not: for tables
	// with row-level security, and views without INSTEAD OF triggers. It cannot load arrays and composites.
	Unnest
)

// Config configures [LoadWith]. The zero Config is ready for use.
type Config struct {
	Method     Method         // zero: Copy
	Source     sqltype.Source // for Writer.NextID; nil: NextID fails
	ChunkBytes int            // the size of a chunk of encoded rows, up to 256 MiB; zero: 2 MiB; the first chunks are smaller
	Progress   func(Loaded)   // called on Load's goroutine after each chunk; it must not write rows; nil: no calls
}

const maxChunkBytes = 256 << 20 // also for a row: a PostgreSQL message, up to 1 GiB, must hold two chunks and a row

// Loaded counts rows like PostgreSQL, without those that a trigger drops or OnConflict skips. With
// sqltype.ErrOutcomeUnknown, it counts the rows that may be in the database.
type Loaded struct {
	Rows   int64   // of all tables
	Tables []int64 // of each table, in the order of the calls of Writer.Table
}

// Load begins a transaction, calls f, which writes rows, and commits.
//
// Rows are encoded as they are written, and sent in chunks while f writes the next ones, so memory is
// limited to a few chunks. In a chunk, the rows of each table are sent together, in the order of the
// calls of [Writer.Table]. A chunk ends after a row of the first table, so foreign keys hold whether an
// order is written before its lines or after them. But a chunk of twice ChunkBytes ends after any row: if
// an order may have more than ChunkBytes of lines, write it before them.
//
// Where there are no foreign keys, Load does not see triggers that change keys or delete rows, nor rows
// that triggers drop from a view or from a table without a primary key: then lines may refer to nothing.
//
// On an error nothing stays in the database. The error of a row is a [LoadError]. In a pgx.Tx, a
// constraint that is checked at COMMIT fails the caller's COMMIT instead of Load. An error of f is
// returned, together with the error of an earlier row. If COMMIT was sent and not answered, the error is
// [sqltype.ErrOutcomeUnknown]. If f panics or calls runtime.Goexit, as t.Fatal does, Load rolls back.
//
// Once ctx is done, rows are ignored and Load fails; a long loop in f should look at [Writer.Err]. A
// failed Load in a pgx.Tx rolls back to the savepoint, or else closes the connection. f must not use the
// pgx.Tx or its connection. Load needs no pgxtype.Register, works in every pgx.QueryExecMode, and
// prepares no statement by name. pgx's tracers do not see the statements that send rows.
func Load(ctx context.Context, db Beginner, f func(w *Writer) error) (Loaded, error) {
	return LoadWith(ctx, db, Config{}, f)
}

// LoadWith is like [Load], with options. For a wrong Config it returns a *core.ConfigError with all faults.
func LoadWith(ctx context.Context, db Beginner, cfg Config, f func(w *Writer) error) (Loaded, error) {
	wrong := required(db, f == nil)
	if cfg.Method > Unnest {
		wrong.Add("Method", cfg.Method, "must be Copy or Unnest")
	}
	if cfg.ChunkBytes < 0 || cfg.ChunkBytes > maxChunkBytes {
		wrong.Add("ChunkBytes", cfg.ChunkBytes, "must be 0 to %d", maxChunkBytes)
	}
	if err := wrong.Err("pgxload"); err != nil {
		return Loaded{}, err
	}
	cfg.ChunkBytes = cmp.Or(cfg.ChunkBytes, 2<<20)
	tx, err := db.Begin(ctx)
	if err != nil {
		return Loaded{}, fmt.Errorf("pgxload: begin: %w", err)
	}
	w := &Writer{cfg: cfg, ctx: ctx, tx: tx, types: strictMap(tx.Conn().TypeMap())}
	_, nested := db.(pgx.Tx)
	err = inTx(ctx, tx, nested, func() error { return w.run(f) })
	if err != nil && !errors.Is(err, sqltype.ErrOutcomeUnknown) {
		return Loaded{}, err
	}
	return w.loaded(), err
}

// required reports the arguments that Load and Retry need.
func required(db any, noFunction bool) (wrong fields.Errors) {
	if fields.IsNil(db) {
		wrong.Add("db", nil, "is required")
	}
	if noFunction {
		wrong.Add("f", nil, "is required")
	}
	return wrong
}
