package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

const table = `CREATE TABLE IF NOT EXISTS serial_invoices (id bigint PRIMARY KEY, number varchar(19) UNIQUE NOT NULL, cents bigint NOT NULL CHECK (cents > 0))`

func withPgx(ctx context.Context, gen *core.Generator, opt options, out io.Writer) error {
	pool, err := pgxpool.New(ctx, opt.dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, table); err != nil {
		return err
	}
	// The store creates its table through database/sql; a transaction of pgx then runs
	// the same statement.
	cfg := sqlstore.Config{Dialect: sqlstore.Postgres, Table: "serial", AllowDataLoss: opt.lossy}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	store, err := sqlstore.New(db, cfg)
	if err != nil {
		return err
	}
	if err := store.PrepareCounters(ctx); err != nil {
		return err
	}
	statement, err := cfg.ReserveSQL()
	if err != nil {
		return err
	}
	numbers, err := serial.NewNumbers(invoiceNumbers(store, opt.now))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Invoices, numbered in the transaction that writes them:")
	for _, cents := range []int64{1250, 0, 99} { // the database refuses the second
		id, err := gen.Next(ctx)
		if err != nil {
			return err
		}
		var number string
		err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			inTx := serial.CounterFunc(func(ctx context.Context, key string, n int64) (int64, error) {
				var last int64
				err := tx.QueryRow(ctx, statement, key, n).Scan(&last)
				return last - n + 1, err
			})
			var err error
			if number, err = numbers.NextIn(ctx, inTx); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, "INSERT INTO serial_invoices VALUES ($1, $2, $3)", id, number, cents)
			return err
		})
		fmt.Fprintf(out, "  %s of %d cents: %v\n", number, cents, written(err))
	}
	return nil
}
