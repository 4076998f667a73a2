package integration

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The same 1,000 orders with 20 lines each, in one transaction, in the ways
// there are, with a foreign key and its index: with keys that the database
// makes, and with keys that are made beforehand (making them is measured too).

const benchOrders, benchLines = 1000, 20

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

func makeBenchOrders() []benchOrder {
	orders := make([]benchOrder, benchOrders)
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
	return sqltype.Assign(ctx, gen, orders, func(o *benchOrder) *sqltype.ID { return &o.ID }, sqltype.Details(
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
		pgxtype.Masters(pgx.Identifier{"orders"}, []string{"id", "note"},
			func(o *benchOrder, row []any) []any { return append(row, &o.ID, &o.Note) }),
		pgxtype.Details(pgx.Identifier{"lines"}, []string{"id", "order_id", "position", "sku"},
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

// benchPool is a pool on a database of its own, through a proxy if there is a
// delay.
func benchPool(b *testing.B, delay time.Duration) *pgxpool.Pool {
	b.Helper()
	server := testserver.Postgres(b)
	config, err := pgxpool.ParseConfig(server.DSN)
	if err != nil {
		b.Fatal(err)
	}
	config.AfterConnect = pgxtype.AfterConnect
	config.MaxConns = 1
	schema := freshName()
	config.ConnConfig.RuntimeParams["search_path"] = schema
	if delay > 0 {
		host, port, err := net.SplitHostPort(delayed(b, server.Addr, delay))
		if err != nil {
			b.Fatal(err)
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			b.Fatal(err)
		}
		config.ConnConfig.Host, config.ConnConfig.Port = host, uint16(number)
	}
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_, _ = pool.Exec(context.Background(), `DROP SCHEMA `+schema+` CASCADE`)
		pool.Close()
	})
	if _, err := pool.Exec(b.Context(), `CREATE SCHEMA `+schema+`;
		CREATE TABLE orders (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, note text NOT NULL);
		CREATE TABLE lines (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, order_id bigint NOT NULL REFERENCES orders, position int NOT NULL, sku text NOT NULL);
		CREATE INDEX ON lines (order_id)`); err != nil {
		b.Fatal(err)
	}
	return pool
}

func BenchmarkLoadOrders(b *testing.B) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		b.Fatal(err)
	}
	defer gen.Close()
	for _, delay := range []time.Duration{0, time.Millisecond} {
		for _, way := range []struct {
			name string
			run  func(context.Context, pgx.Tx, []benchOrder) error
		}{
			{"Load-Copy", loadWith(gen, pgxtype.Copy)},
			{"Load-Unnest", loadWith(gen, pgxtype.Unnest)},
			{"unnest-RETURNING", unnestReturning},
			{"batch-RETURNING", inBatches},
			{"RETURNING-per-order", perOrder},
		} {
			b.Run(fmt.Sprintf("delay=%v/%s", delay, way.name), func(b *testing.B) {
				pool := benchPool(b, delay)
				orders := makeBenchOrders()
				load := func() {
					if err := pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error { return way.run(b.Context(), tx, orders) }); err != nil {
						b.Fatal(err)
					}
				}
				empty := func() {
					var rows int
					if err := pool.QueryRow(b.Context(), `SELECT count(*) FROM lines JOIN orders ON order_id = orders.id`).Scan(&rows); err != nil || rows != benchOrders*benchLines {
						b.Fatalf("%d rows, %v", rows, err)
					}
					if _, err := pool.Exec(b.Context(), `TRUNCATE orders, lines`); err != nil {
						b.Fatal(err)
					}
				}
				load() // the first one prepares the statements, and fills the server's caches
				empty()
				for b.Loop() {
					load()
					b.StopTimer()
					empty()
					b.StartTimer()
				}
			})
		}
		b.Run(fmt.Sprintf("delay=%v/round-trip", delay), func(b *testing.B) {
			pool := benchPool(b, delay)
			for b.Loop() {
				if err := pool.Ping(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Rows of two keys through pgx's CopyFrom: int64 is the floor.
func BenchmarkCopyFrom(b *testing.B) {
	const rows = 10_000
	type source struct {
		name string
		bare bool
		row  func(i int, row []any)
	}
	var ints [2]int64
	var ids [2]sqltype.ID
	for _, s := range []source{
		{"int64", false, func(i int, row []any) { ints[0], ints[1] = int64(i), 1<<60; row[0], row[1] = ints[0], ints[1] }},
		{"ID", false, func(i int, row []any) { ids[0], ids[1] = sqltype.ID(i), 1<<60; row[0], row[1] = ids[0], ids[1] }},
		{"int64-pointer", false, func(i int, row []any) { ints[0], ints[1] = int64(i), 1<<60; row[0], row[1] = &ints[0], &ints[1] }},
		{"ID-pointer", false, func(i int, row []any) { ids[0], ids[1] = sqltype.ID(i), 1<<60; row[0], row[1] = &ids[0], &ids[1] }},
		{"ID-bare", true, func(i int, row []any) { ids[0], ids[1] = sqltype.ID(i), 1<<60; row[0], row[1] = ids[0], ids[1] }},
	} {
		b.Run(s.name, func(b *testing.B) {
			config, err := pgx.ParseConfig(testserver.Postgres(b).DSN)
			if err != nil {
				b.Fatal(err)
			}
			conn, err := pgx.ConnectConfig(b.Context(), config)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close(context.Background())
			if !s.bare {
				pgxtype.Register(conn.TypeMap())
			}
			if _, err := conn.Exec(b.Context(), `CREATE TEMP TABLE copied (a bigint, b bigint)`); err != nil {
				b.Fatal(err)
			}
			row := make([]any, 2)
			b.ReportAllocs()
			for b.Loop() {
				n, err := conn.CopyFrom(b.Context(), pgx.Identifier{"copied"}, []string{"a", "b"}, pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
					s.row(i, row)
					return row, nil
				}))
				if err != nil || n != rows {
					b.Fatal(n, err)
				}
				b.StopTimer()
				if _, err := conn.Exec(b.Context(), `TRUNCATE copied`); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
