package inserts

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
)

// warm writes some rows of each kind, so that what comes first is not measured on
// a server that has just begun.
func warm(b *testing.B, e *database.Engine) {
	b.Helper()
	times := scale.Pick(b, 1, 20)
	for _, k := range database.Keys() {
		table := e.Fresh("warm")
		e.Exec(b, e.Create(table, k, "amount integer NOT NULL"))
		in := newInserter(b, e, k, table, []string{"amount"}, 100)
		for range times {
			if err := in.write(b, func(i int, args []any) []any { return append(args, i) }); err != nil {
				b.Fatal(err)
			}
		}
		in.close(b)
		e.Exec(b, "DROP TABLE "+table)
	}
}

// written are the bytes that rows took, added up over the iterations.
type written struct {
	rows, all, key int64
}

func (w *written) add(b *testing.B, e *database.Engine, rows int64, table string) {
	b.Helper()
	all, key := e.Sizes(b, table)
	w.rows, w.all, w.key = w.rows+rows, w.all+all, w.key+key
	if stored := int64(e.Count(b, table)); stored != rows {
		b.Fatalf("%d rows are in %s, want %d", stored, table, rows)
	}
}

func (w *written) report(b *testing.B, e *database.Engine) {
	b.Helper()
	rows := float64(w.rows)
	b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(w.all)/rows, "diskB/row")
	if e.Name != database.MariaDB {
		b.ReportMetric(float64(w.key)/rows, "keyB/row")
	}
	b.ReportMetric(0, "ns/op") // rows/s says it
}

// BenchmarkInsert writes rows of four columns, so many in each INSERT, each INSERT a transaction
// that is on disk before it returns.
func BenchmarkInsert(b *testing.B) {
	for _, name := range database.Engines() {
		b.Run("db="+name+"/durable=yes", func(b *testing.B) {
			e := database.Open(b, name, true)
			warm(b, e)
			for _, size := range scale.Pick(b, [][2]int{{1, 5}, {100, 200}}, [][2]int{{1, 1_000}, {100, 10_000}, {1_000, 20_000}}) {
				for _, k := range scale.Rotate(b, database.Keys()) {
					b.Run(fmt.Sprintf("batch=%d/key=%s", size[0], k.Name), func(b *testing.B) { insert(b, e, k, size[0], size[1]) })
				}
			}
		})
	}
}

func insert(b *testing.B, e *database.Engine, k database.Key, batch, rows int) {
	var w written
	for b.Loop() {
		b.StopTimer()
		table := e.Fresh("row")
		e.Exec(b, e.Create(table, k, "owner bigint NOT NULL, name varchar(40) NOT NULL, amount integer NOT NULL"))
		in := newInserter(b, e, k, table, []string{"owner", "name", "amount"}, batch)
		e.Settle(b)
		b.StartTimer()
		for at := 0; at < rows; at += batch {
			if err := in.write(b, func(i int, args []any) []any { return append(args, at+i, "the name of a row", i) }); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		w.add(b, e, int64(rows), table)
		in.close(b)
		e.Exec(b, "DROP TABLE "+table)
		b.StartTimer()
	}
	w.report(b, e)
}

// inserter writes a fixed number of rows by one statement, prepared before.
type inserter struct {
	key   database.Key
	maker *database.Maker
	stmt  *sql.Stmt
	keys  []any
	args  []any
}

func newInserter(b *testing.B, e *database.Engine, k database.Key, table string, columns []string, rows int) *inserter {
	b.Helper()
	stmt, err := e.DB.PrepareContext(b.Context(), e.Insert(table, k, columns, rows))
	if err != nil {
		b.Fatal(err)
	}
	return &inserter{key: k, maker: e.Maker(b, k), stmt: stmt, keys: make([]any, rows)}
}

// write makes the keys and sends the rows; row appends all columns but the key.
func (in *inserter) write(b *testing.B, row func(i int, args []any) []any) error {
	in.args = in.args[:0]
	if !in.key.Auto() {
		if err := in.maker.Fill(in.keys); err != nil {
			return err
		}
	}
	for i, key := range in.keys {
		if !in.key.Auto() {
			in.args = append(in.args, key)
		}
		in.args = row(i, in.args)
	}
	_, err := in.stmt.ExecContext(b.Context(), in.args...)
	return err
}

func (in *inserter) close(b *testing.B) {
	b.Helper()
	if err := in.stmt.Close(); err != nil {
		b.Fatal(err)
	}
}
