package outage

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order and OrderLine are the README's.
type Order struct {
	ID    sqltype.ID
	Note  string
	Lines []OrderLine
}

type OrderLine struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	OrderID sqltype.ID
	SKU     string
}

var tables = []string{
	"CREATE TABLE orders (id bigint PRIMARY KEY, note varchar(40))",
	"CREATE TABLE order_lines (id bigint PRIMARY KEY, order_id bigint, sku varchar(40))",
}

// A way is how a program writes an order with two lines.
type way struct {
	name, about string
	only        string // of one database
	open        func(t *testing.T, b backend, pool int) program
}

// A program has one pool, for its rows and its lease.
type program struct {
	leases *sql.DB
	// writer gives what writes one order, in one transaction, under ids of a source.
	writer func(t *testing.T, src source) func(context.Context) error
}

var (
	gormUser    = way{name: "gorm", about: "gorm, a transaction of the user's", open: byGORM(true)}
	gormDefault = way{name: "gorm-default", about: "gorm, its own transaction", open: byGORM(false)}
	databaseSQL = way{name: "sql", about: "database/sql", open: bySQL}
	pgxPool     = way{name: "pgxpool", about: "pgxpool", only: "PostgreSQL", open: byPgx}
)

// byGORM asks for ids in a transaction that the user has begun, twice, or in the one that
// gorm begins for each create.
func byGORM(user bool) func(t *testing.T, b backend, pool int) program {
	return func(t *testing.T, b backend, pool int) program {
		db := b.open(t, pool)
		return program{db, func(t *testing.T, src source) func(context.Context) error {
			g, err := gorm.Open(b.dialect(db), &gorm.Config{Logger: logger.Discard})
			must(t, err)
			must(t, g.Use(gormplugin.New(gormplugin.Config{Source: src, Models: []any{Order{}, OrderLine{}}})))
			lines := func() []OrderLine { return []OrderLine{{SKU: "tea"}, {SKU: "cup"}} }
			if !user {
				return func(ctx context.Context) error { return g.WithContext(ctx).Create(&Order{Lines: lines()}).Error }
			}
			return func(ctx context.Context) error {
				return g.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
					order, lines := Order{}, lines()
					if err := tx.Create(&order).Error; err != nil {
						return err
					}
					for i := range lines {
						lines[i].OrderID = order.ID
					}
					return tx.Create(&lines).Error
				})
			}
		}}
	}
}

// bySQL begins a transaction and then asks for ids.
func bySQL(t *testing.T, b backend, pool int) program {
	db := b.open(t, pool)
	return program{db, func(_ *testing.T, src source) func(context.Context) error {
		return func(ctx context.Context) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }() // after a commit it does nothing
			err = order(ctx, src, func(query string, args ...any) error {
				_, err := tx.ExecContext(ctx, b.placed(query), args...)
				return err
			})
			if err != nil {
				return err
			}
			return tx.Commit()
		}
	}}
}

// byPgx begins a transaction and then asks for ids. The leases are in the same pool.
func byPgx(t *testing.T, b backend, pool int) program {
	cfg, err := pgxpool.ParseConfig(b.dsn)
	must(t, err)
	cfg.AfterConnect = pgxtype.AfterConnect
	cfg.MaxConns = int32(pool) //nolint:gosec // at most 50
	p, err := pgxpool.NewWithConfig(t.Context(), cfg)
	must(t, err)
	t.Cleanup(p.Close)
	leases := stdlib.OpenDBFromPool(p)
	t.Cleanup(func() { _ = leases.Close() })
	return program{leases, func(_ *testing.T, src source) func(context.Context) error {
		return func(ctx context.Context) error {
			tx, err := p.Begin(ctx)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
			err = order(ctx, src, func(query string, args ...any) error {
				_, err := tx.Exec(ctx, b.placed(query), args...)
				return err
			})
			if err != nil {
				return err
			}
			return tx.Commit(ctx)
		}
	}}
}

// order writes one with two lines, in a transaction that has begun.
func order(ctx context.Context, src source, exec func(query string, args ...any) error) error {
	id, err := src.Next(ctx)
	if err != nil {
		return err
	}
	if err := exec("INSERT INTO orders (id, note) VALUES (?, ?)", id, ""); err != nil {
		return err
	}
	lines := make([]int64, 2)
	if err := src.Fill(ctx, lines); err != nil {
		return err
	}
	return exec("INSERT INTO order_lines (id, order_id, sku) VALUES (?, ?, ?), (?, ?, ?)", lines[0], id, "tea", lines[1], id, "cup")
}
