// Command sqlc writes orders with their lines to PostgreSQL by the code that sqlc generates from
// schema.sql and query.sql: orders by a batch, lines by COPY, in one transaction. Then it reads them
// back.
//
//	go run ./examples/sqlc -dsn postgres://user@host/database
//
// sqlc.yaml makes every bigint an sqltype.ID. After a change of it or of the SQL,
// go generate ./examples/sqlc writes db again.
package main

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate

import (
	"context"
	_ "embed" // for go:embed
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/db"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/key"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

//go:embed schema.sql
var schema string

// order is an order with its lines, as sqlc's functions take them.
type order struct {
	db.InsertOrdersParams
	lines []db.InsertLinesParams
}

func main() {
	dsn := flag.String("dsn", "", "postgres://user:password@host/database; default: PGHOST, PGUSER and so on")
	flag.Parse()
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // or a lease, where several processes write
	if err == nil {
		err = run(context.Background(), gen, os.Stdout, *dsn)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sqlc:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, gen *core.Generator, out io.Writer, dsn string) error {
	pool, err := connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("-dsn: %w", err) // pgx hides the password
	}
	defer pool.Close()
	orders := []order{
		{db.InsertOrdersParams{Customer: "Ada"}, []db.InsertLinesParams{{Sku: "tea", Cents: 450}, {Sku: "cup", Cents: 1299}}},
		{db.InsertOrdersParams{Customer: "Bob"}, []db.InsertLinesParams{{Sku: "jam", Cents: 399}}},
	}
	if err := sqltype.Assign(ctx, gen, orders, func(o *order) *sqltype.ID { return &o.ID }, sqltype.Children(
		func(o *order) []db.InsertLinesParams { return o.lines },
		func(l *db.InsertLinesParams) *key.Line { return &l.ID },
		func(l *db.InsertLinesParams) *sqltype.ID { return &l.OrderID },
	)); err != nil {
		return err
	}
	for i := range orders {
		orders[i].Number = "SO-" + orders[i].ID.Base32()
	}
	orders[1].Replaces = sqltype.NullID{ID: orders[0].ID, Valid: true}
	if err := insert(ctx, pool, orders); err != nil {
		return err
	}
	return report(ctx, db.New(pool), gen, orders, out)
}

// connect creates the tables.
func connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.AfterConnect = pgxtype.AfterConnect
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// insert writes all rows in one transaction. The server returns no keys, so the orders need one round
// trip, and the lines can use COPY.
func insert(ctx context.Context, pool *pgxpool.Pool, orders []order) error {
	rows := make([]db.InsertOrdersParams, len(orders))
	var lines []db.InsertLinesParams
	for i, o := range orders {
		rows[i] = o.InsertOrdersParams
		lines = append(lines, o.lines...)
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		var failed error
		q.InsertOrders(ctx, rows).Exec(func(i int, err error) {
			if err != nil && failed == nil { // those after it fail because of it
				failed = fmt.Errorf("order %d: %w", rows[i].ID, err)
			}
		})
		if failed != nil {
			return failed
		}
		_, err := q.InsertLines(ctx, lines)
		return err
	})
}

// report reads the orders back. Times are ranges of the primary key, and a page begins after the last
// key of the page before. A row that exists keeps its key in an upsert.
func report(ctx context.Context, q *db.Queries, gen *core.Generator, orders []order, out io.Writer) error {
	low, high, err := gen.Layout().Range(time.Now().Add(-time.Hour), time.Now().Add(time.Minute))
	if err != nil {
		return err
	}
	recent, err := q.OrdersBetween(ctx, db.OrdersBetweenParams{Low: sqltype.ID(low), High: sqltype.ID(high)})
	if err != nil {
		return err
	}
	page, err := q.PageOfOrders(ctx, db.PageOfOrdersParams{After: orders[0].ID, Size: 10})
	if err != nil {
		return err
	}
	offered, err := sqltype.NextID(ctx, gen)
	if err != nil {
		return err
	}
	kept, err := q.PutOrder(ctx, db.PutOrderParams{ID: offered, Number: orders[0].Number, Customer: orders[0].Customer})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d orders of the last hour, %d after the first; put again, it keeps its key: %t\n", len(recent), len(page), kept == orders[0].ID)
	ids := []sqltype.ID{orders[0].ID, orders[1].ID}
	lines, err := q.LinesOf(ctx, ids)
	if err != nil {
		return err
	}
	replaced, err := q.Replaced(ctx, ids)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(map[string]any{"lines": lines, "replaced": replaced}) // ids, also null ones, are strings
}
