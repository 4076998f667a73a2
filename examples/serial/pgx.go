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

const tables = `
	CREATE TABLE IF NOT EXISTS serial_payments (id bigint PRIMARY KEY, serial char(34) UNIQUE NOT NULL, cents bigint NOT NULL);
	CREATE TABLE IF NOT EXISTS serial_invoices (id bigint PRIMARY KEY, number varchar(19) UNIQUE NOT NULL, cents bigint NOT NULL CHECK (cents > 0))`

func withPgx(ctx context.Context, gen *core.Generator, opt options, out io.Writer) error {
	pool, err := pgxpool.New(ctx, opt.dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, tables); err != nil {
		return err
	}

	ids := make([]int64, 1000)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	n, err := pool.CopyFrom(ctx, pgx.Identifier{"serial_payments"}, []string{"id", "serial", "cents"},
		pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
			text, err := payments.Encode(ids[i])
			return []any{ids[i], text, i + 1}, err
		}))
	if err != nil {
		return err
	}
	var text string
	if err := pool.QueryRow(ctx, "SELECT serial FROM serial_payments WHERE id = $1", ids[999]).Scan(&text); err != nil {
		return err
	}
	id, err := payments.Decode(text)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Payments:\n  %d by COPY, the last is %s, id %d\n", n, text, id)

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
	fmt.Fprintln(out, "\nInvoices, numbered in the transaction that writes them:")
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
	return inBlocks(ctx, store, opt, out)
}
