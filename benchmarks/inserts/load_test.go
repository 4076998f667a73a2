package inserts

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The same orders with ten lines each, in one transaction, in the ways there are,
// with a foreign key and its index: with keys that the database makes, and with
// keys that are made beforehand (making them is measured too).

const benchLines = 10

type (
	benchOrder struct {
		ID    sqltype.ID
		Note  string
		Lines []benchLine
	}
	benchLine struct {
		ID, OrderID sqltype.ID
		Position    int
		SKU         string
	}
)

func makeBenchOrders(n int) []benchOrder {
	orders := make([]benchOrder, n)
	for i := range orders {
		orders[i].Note = fmt.Sprintf("order %d", i)
		orders[i].Lines = make([]benchLine, benchLines)
		for j := range orders[i].Lines {
			orders[i].Lines[j].Position, orders[i].Lines[j].SKU = j, fmt.Sprintf("SKU-%06d", i*benchLines+j)
		}
	}
	return orders
}

// withKeys assigns new keys to all rows.
func withKeys(ctx context.Context, gen *core.Generator, orders []benchOrder) error {
	for i := range orders {
		orders[i].ID = 0
		for j := range orders[i].Lines {
			orders[i].Lines[j].ID = 0
		}
	}
	return sqltype.Assign(ctx, gen, orders, func(o *benchOrder) *sqltype.ID { return &o.ID }, sqltype.Children(
		func(o *benchOrder) []benchLine { return o.Lines },
		func(l *benchLine) *sqltype.ID { return &l.ID },
		func(l *benchLine) *sqltype.ID { return &l.OrderID },
	))
}

// inBatches asks for the keys of all orders in one batch, then sends all lines in
// another.
func inBatches(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
	batch := &pgx.Batch{}
	for i := range orders {
		o := &orders[i]
		batch.Queue(`INSERT INTO orders (note) VALUES ($1) RETURNING id`, o.Note).QueryRow(func(row pgx.Row) error { return row.Scan(&o.ID) })
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	batch = &pgx.Batch{}
	for i := range orders {
		for _, l := range orders[i].Lines {
			batch.Queue(`INSERT INTO lines (order_id, position, sku) VALUES ($1, $2, $3)`, orders[i].ID, l.Position, l.SKU)
		}
	}
	return tx.SendBatch(ctx, batch).Close()
}

func loadWith(gen *core.Generator, method pgxload.Method) func(context.Context, pgx.Tx, []benchOrder) error {
	return func(ctx context.Context, tx pgx.Tx, input []benchOrder) error {
		if err := withKeys(ctx, gen, input); err != nil {
			return err
		}
		_, err := pgxload.LoadWith(ctx, tx, pgxload.Config{Method: method}, func(w *pgxload.Writer) error {
			orders, lines := w.Table("orders", "id", "note"), w.Table("lines", "id", "order_id", "position", "sku")
			for i := range input {
				o := &input[i]
				orders.Row(&o.ID, &o.Note)
				for j := range o.Lines {
					l := &o.Lines[j]
					lines.Row(&l.ID, &l.OrderID, &l.Position, &l.SKU)
				}
			}
			return nil
		})
		return err
	}
}

// copyByHand writes the same rows by two calls of CopyFrom.
func copyByHand(gen *core.Generator) func(context.Context, pgx.Tx, []benchOrder) error {
	return func(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
		if err := withKeys(ctx, gen, orders); err != nil {
			return err
		}
		return copyRows(ctx, tx, orders)
	}
}

// unnestByHand writes the same rows by two INSERTs in one batch.
func unnestByHand(gen *core.Generator) func(context.Context, pgx.Tx, []benchOrder) error {
	return func(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
		if err := withKeys(ctx, gen, orders); err != nil {
			return err
		}
		var ids, lineIDs, orderIDs []sqltype.ID
		var notes, skus []string
		var positions []int
		for i := range orders {
			ids, notes = append(ids, orders[i].ID), append(notes, orders[i].Note)
			for _, l := range orders[i].Lines {
				lineIDs, orderIDs, positions, skus = append(lineIDs, l.ID), append(orderIDs, l.OrderID), append(positions, l.Position), append(skus, l.SKU)
			}
		}
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO orders (id, note) SELECT * FROM unnest($1::bigint[], $2::text[])`, ids, notes)
		batch.Queue(`INSERT INTO lines (id, order_id, position, sku) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[])`, lineIDs, orderIDs, positions, skus)
		return tx.SendBatch(ctx, batch).Close()
	}
}

// floorCopy writes keys that cost nothing, by two calls of CopyFrom written by
// hand: what loading by COPY costs at the least.
func floorCopy(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
	next := sqltype.ID(0)
	key := func() sqltype.ID { next++; return next }
	for i := range orders {
		orders[i].ID = key()
		for j := range orders[i].Lines {
			l := &orders[i].Lines[j]
			l.ID, l.OrderID = key(), orders[i].ID
		}
	}
	return copyRows(ctx, tx, orders)
}

func copyRows(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "note"}, pgx.CopyFromSlice(len(orders), func(i int) ([]any, error) {
		return []any{orders[i].ID, orders[i].Note}, nil
	})); err != nil {
		return err
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"lines"}, []string{"id", "order_id", "position", "sku"}, pgx.CopyFromSlice(len(orders)*benchLines, func(i int) ([]any, error) {
		l := &orders[i/benchLines].Lines[i%benchLines]
		return []any{l.ID, l.OrderID, l.Position, l.SKU}, nil
	}))
	return err
}

// loadPool is a pool of one connection to the server.
func loadPool(b *testing.B, server *testserver.Server) *pgxpool.Pool {
	b.Helper()
	config, err := pgxpool.ParseConfig(server.DSN)
	if err != nil {
		b.Fatal(err)
	}
	config.AfterConnect = pgxtype.AfterConnect
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	if _, err := pool.Exec(b.Context(), `DROP TABLE IF EXISTS lines; DROP TABLE IF EXISTS orders;
		CREATE TABLE orders (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, note text NOT NULL);
		CREATE TABLE lines (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, order_id bigint NOT NULL REFERENCES orders, position int NOT NULL, sku text NOT NULL);
		CREATE INDEX ON lines (order_id)`); err != nil {
		b.Fatal(err)
	}
	return pool
}

type loadWay struct {
	name string
	run  func(context.Context, pgx.Tx, []benchOrder) error
}

// BenchmarkLoad writes orders with ten lines each by pgx, in one transaction, on
// a server whose commits wait for the disk.
func BenchmarkLoad(b *testing.B) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		b.Fatal(err)
	}
	defer gen.Close()
	server := database.Open(b, database.Postgres, true).Server
	for _, orders := range []int{1_000, 20_000} {
		for _, way := range scale.Rotate(b, []loadWay{
			{"snowkey", loadWith(gen, pgxload.Copy)},
			{"copyfrom-by-hand", copyByHand(gen)},
			{"snowkey-unnest", loadWith(gen, pgxload.Unnest)},
			{"unnest-by-hand", unnestByHand(gen)},
			{"pgx-batch-returning", inBatches},
			{"floor-copy", floorCopy},
		}) {
			b.Run(fmt.Sprintf("delay=0s/orders=%d/way=%s", orders, way.name), func(b *testing.B) { load(b, loadPool(b, server), way, orders) })
		}
	}
}

func load(b *testing.B, pool *pgxpool.Pool, way loadWay, n int) {
	orders := makeBenchOrders(scale.Pick(b, 3, n))
	run := func(orders []benchOrder) {
		if err := pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error { return way.run(b.Context(), tx, orders) }); err != nil {
			b.Fatal(err)
		}
	}
	empty := func(want int) {
		var rows int
		if err := pool.QueryRow(b.Context(), `SELECT count(*) FROM lines JOIN orders ON order_id = orders.id`).Scan(&rows); err != nil || rows != want*benchLines {
			b.Fatalf("%d lines, %v; want %d", rows, err, want*benchLines)
		}
		if _, err := pool.Exec(b.Context(), `TRUNCATE orders, lines`); err != nil {
			b.Fatal(err)
		}
	}
	run(orders[:2]) // the first one prepares the statements
	empty(2)
	b.ReportAllocs()
	for b.Loop() {
		run(orders)
		b.StopTimer()
		empty(len(orders))
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N*len(orders)*(1+benchLines))/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(0, "ns/op") // rows/s says it
}
