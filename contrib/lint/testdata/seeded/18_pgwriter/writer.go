// Package pgwriter writes measurements with pgx.
package pgwriter

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
)

type Measurement struct {
	ID    sqltype.ID
	At    time.Time
	Value float64
}

// Repository writes rows of a kind.
type Repository[Row any] struct {
	pool    *pgxpool.Pool
	table   string
	columns []string
	key     func(*Row) *sqltype.ID
	values  func(*Row) []any
}

// Insert writes rows and sets their keys.
func (r *Repository[Row]) Insert(ctx context.Context, rows []Row) error {
	gen, err := pgxstore.Open(ctx, r.pool, worker.Config{}) // FAULT 063 snowscope: a lease for each insert, in a method of a generic type
	if err != nil {
		return err
	}
	err = insert(ctx, gen, r, rows)
	return errors.Join(err, gen.Close(context.WithoutCancel(ctx)))
}

// Writer writes rows with one generator.
type Writer[Row any] struct {
	Repository[Row]
	gen *worker.Generator
}

// NewWriter leases a worker ID. Call Close at the end.
func NewWriter[Row any](ctx context.Context, r Repository[Row]) (*Writer[Row], error) {
	gen, err := pgxstore.Open(ctx, r.pool, worker.Config{}) // OK 51: one for the life of the Writer, which closes it
	if err != nil {
		return nil, err
	}
	return &Writer[Row]{r, gen}, nil
}

func (w *Writer[Row]) Insert(ctx context.Context, rows []Row) error {
	return insert(ctx, w.gen, &w.Repository, rows)
}

func (w *Writer[Row]) Close(ctx context.Context) error { return w.gen.Close(ctx) }

func insert[Row any](ctx context.Context, gen sqltype.Source, r *Repository[Row], rows []Row) error {
	if err := sqltype.Assign(ctx, gen, rows, r.key); err != nil {
		return err
	}
	_, err := r.pool.CopyFrom(ctx, pgx.Identifier{r.table}, r.columns,
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) { return r.values(&rows[i]), nil }))
	return err
}

// Measurements returns the repository of measurements.
func Measurements(pool *pgxpool.Pool) Repository[Measurement] {
	return Repository[Measurement]{
		pool:    pool,
		table:   "measurements",
		columns: []string{"id", "at", "value"},
		key:     func(m *Measurement) *sqltype.ID { return &m.ID },
		values:  func(m *Measurement) []any { return []any{&m.ID, &m.At, &m.Value} },
	}
}
