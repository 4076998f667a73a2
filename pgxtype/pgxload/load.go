package pgxload

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Beginner is a *pgxpool.Pool, a *pgx.Conn, or a pgx.Tx, in which [Load] uses a savepoint.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Method is how rows are sent.
type Method uint8

const (
	// Copy sends rows with COPY; a table with OnConflict as Unnest does, as COPY has no ON CONFLICT.
	Copy Method = iota
	// Unnest sends rows as INSERT … SELECT unnest(…). Use it for tables that COPY refuses: those with
	// row level security, and views with rules. It cannot load arrays and composites.
	Unnest
)

// Config configures [LoadWith]. The zero Config is ready for use.
type Config struct {
	Method     Method         // zero: Copy
	Source     sqltype.Source // of Writer.NextID; nil: NextID fails
	ChunkBytes int            // bytes of encoded rows after which rows are sent; zero: 2 MiB; the first chunks are smaller
	Progress   func(Loaded)   // called on Load's goroutine after rows were sent; nil: none
}

const maxChunkBytes = 256 << 20 // also of a row: a message must hold two chunks and a row

// Loaded counts rows as PostgreSQL does: without those that a trigger drops or OnConflict skips. With
// sqltype.ErrOutcomeUnknown, it counts what may be in the database.
type Loaded struct {
	Rows   int64   // of all tables
	Tables []int64 // of each table, in the order of the calls of Writer.Table
}

// Load begins a transaction, calls f, which writes rows, and commits.
//
// Rows are encoded as they are written, and sent in chunks while f writes the next ones, so memory is
// limited to a few chunks. In a chunk, the rows of each table are sent together, in the order of the
// calls of [Writer.Table]. A chunk ends after a row of the first table. So foreign keys hold if an order
// is written before its lines, and also if it is written after them. But after twice ChunkBytes without
// a row of the first table, it ends after any row, and what a row refers to must come before it.
//
// On an error nothing stays in the database. A [LoadError] names the row, as far as it is known. In a
// pgx.Tx, a constraint that is checked at COMMIT is an error of the caller's COMMIT. An error of f is
// returned as it is. If COMMIT was sent and not answered, the error is [sqltype.ErrOutcomeUnknown]. If f panics
// or calls runtime.Goexit, as t.Fatal does, Load rolls back and the panic continues.
//
// Once ctx is done, rows are ignored and Load fails; a long loop in f looks at [Writer.Err]. In a pgx.Tx,
// Load then rolls back to the savepoint; if that fails, it closes the connection. f must not use the
// connection of tx. Load needs no pgxtype.Register, works in every mode of execution, and prepares no
// statement by name. pgx's tracers do not see the rows.
func Load(ctx context.Context, db Beginner, f func(w *Writer) error) (Loaded, error) {
	return LoadWith(ctx, db, Config{}, f)
}

// LoadWith is [Load] with options. A wrong Config is a *core.ConfigError with all faults.
func LoadWith(ctx context.Context, db Beginner, cfg Config, f func(w *Writer) error) (Loaded, error) {
	ctx = cmp.Or(ctx, context.Background())
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
	w := &Writer{cfg: cfg, ctx: ctx, tx: tx, types: tx.Conn().TypeMap()}
	_, nested := db.(pgx.Tx)
	err = inTx(ctx, tx, nested, func() error { return w.run(f) })
	if err != nil && !errors.Is(err, sqltype.ErrOutcomeUnknown) {
		return Loaded{}, err
	}
	return w.loaded(), err
}
