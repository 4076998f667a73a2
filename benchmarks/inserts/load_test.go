package inserts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
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

// perOrder asks for the key of each order, then inserts its lines at once.
func perOrder(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
	sql := strings.Builder{}
	sql.WriteString(`INSERT INTO lines (order_id, position, sku) VALUES `)
	for j := range benchLines {
		fmt.Fprintf(&sql, "%s($1,$%d,$%d)", strings.Repeat(",", min(j, 1)), 2*j+2, 2*j+3)
	}
	args := make([]any, 0, 1+2*benchLines)
	for i := range orders {
		o := &orders[i]
		if err := tx.QueryRow(ctx, `INSERT INTO orders (note) VALUES ($1) RETURNING id`, o.Note).Scan(&o.ID); err != nil {
			return err
		}
		args = append(args[:0], o.ID)
		for _, l := range o.Lines {
			args = append(args, l.Position, l.SKU)
		}
		if _, err := tx.Exec(ctx, sql.String(), args...); err != nil {
			return err
		}
	}
	return nil
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

// unnestReturning relies on RETURNING giving the rows in the order they came,
// which PostgreSQL does not promise.
func unnestReturning(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
	notes := make([]string, len(orders))
	for i, o := range orders {
		notes[i] = o.Note
	}
	rows, err := tx.Query(ctx, `INSERT INTO orders (note) SELECT unnest($1::text[]) RETURNING id`, notes)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[sqltype.ID])
	if err != nil {
		return err
	}
	var keys []sqltype.ID
	var positions []int
	var skus []string
	for i, o := range orders {
		for _, l := range o.Lines {
			keys, positions, skus = append(keys, ids[i]), append(positions, l.Position), append(skus, l.SKU)
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO lines (order_id, position, sku) SELECT * FROM unnest($1::bigint[], $2::int[], $3::text[])`, keys, positions, skus)
	return err
}

func loadWith(gen *core.Generator, method pgxtype.Method) func(context.Context, pgx.Tx, []benchOrder) error {
	cfg := pgxtype.LoadConfig[benchOrder]{Method: method, Tables: []pgxtype.Table[benchOrder]{
		pgxtype.ParentTable(pgx.Identifier{"orders"}, []string{"id", "note"},
			func(o *benchOrder, row []any) []any { return append(row, &o.ID, &o.Note) }),
		pgxtype.ChildTable(pgx.Identifier{"lines"}, []string{"id", "order_id", "position", "sku"},
			func(o *benchOrder) []benchLine { return o.Lines },
			func(l *benchLine, row []any) []any { return append(row, &l.ID, &l.OrderID, &l.Position, &l.SKU) }),
	}}
	return func(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
		if err := withKeys(ctx, gen, orders); err != nil {
			return err
		}
		_, err := pgxtype.Load(ctx, tx, pgxtype.Seq(slices.Values(orders)), cfg)
		return err
	}
}

// floorCopy writes keys that cost nothing, by two calls of CopyFrom written by
// hand: what loading by COPY costs at the least.
func floorCopy(ctx context.Context, tx pgx.Tx, orders []benchOrder) error {
	next := int64(0)
	key := func() int64 { next++; return next }
	var lines []benchLine
	for i := range orders {
		orders[i].ID = sqltype.ID(key())
		for j := range orders[i].Lines {
			l := &orders[i].Lines[j]
			l.ID, l.OrderID = sqltype.ID(key()), orders[i].ID
			lines = append(lines, *l)
		}
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "note"}, pgx.CopyFromSlice(len(orders), func(i int) ([]any, error) {
		return []any{int64(orders[i].ID), orders[i].Note}, nil
	})); err != nil {
		return err
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"lines"}, []string{"id", "order_id", "position", "sku"}, pgx.CopyFromSlice(len(lines), func(i int) ([]any, error) {
		l := &lines[i]
		return []any{int64(l.ID), int64(l.OrderID), l.Position, l.SKU}, nil
	}))
	return err
}

// loadPool is a pool of one connection to the server, behind a network if there
// is a delay.
func loadPool(b *testing.B, server *testserver.Server, delay time.Duration) *pgxpool.Pool {
	b.Helper()
	config, err := pgxpool.ParseConfig(database.Far(b, server, delay))
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
	for _, delay := range []time.Duration{0, time.Millisecond} {
		for _, way := range scale.Rotate(b, []loadWay{
			{"snowkey", loadWith(gen, pgxtype.Copy)},
			{"snowkey-unnest", loadWith(gen, pgxtype.Unnest)},
			{"pgx-unnest-returning", unnestReturning},
			{"pgx-batch-returning", inBatches},
			{"pgx-returning-each", perOrder},
			{"floor-copy", floorCopy},
		}) {
			b.Run(fmt.Sprintf("delay=%v/way=%s", delay, way.name), func(b *testing.B) {
				load(b, loadPool(b, server, delay), way)
			})
		}
	}
}

func load(b *testing.B, pool *pgxpool.Pool, way loadWay) {
	orders := makeBenchOrders(scale.Pick(b, 3, 1_000))
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
