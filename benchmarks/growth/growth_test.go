package growth

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/smoke"
)

const batch = 1_000

func BenchmarkGrowth(b *testing.B) {
	for _, name := range database.Engines() {
		b.Run("db="+name, func(b *testing.B) {
			e := database.Open(b, name, true)
			for _, k := range scale.Rotate(b, database.Keys()) {
				t := newTable(b, e, k)
				for _, rows := range sizes(b, name, k) {
					b.Run(fmt.Sprintf("rows=%d/key=%s", rows, k.Name), func(b *testing.B) { t.grow(b, rows) })
				}
				e.Exec(b, "DROP TABLE "+t.name)
			}
		})
	}
}

// sizes at which a table is measured.
func sizes(b *testing.B, engine string, k database.Key) []int {
	list := scale.Pick(b, []int{1_000, 3_000}, []int{10_000, 100_000, 1_000_000})
	if engine == database.Postgres && (k.Name == "snowflake" || k.Name == "uuid4") {
		list = append(list, scale.Pick(b, 5_000, 10_000_000))
	}
	return list
}

type table struct {
	e     *database.Engine
	key   database.Key
	maker *database.Maker
	name  string
	stmt  *sql.Stmt
	keys  []any
	args  []any
	rows  int
}

func newTable(b *testing.B, e *database.Engine, k database.Key) *table {
	b.Helper()
	t := &table{e: e, key: k, maker: e.Maker(b, k), name: e.Fresh("grown"), keys: make([]any, batch)}
	e.Exec(b, e.Create(t.name, k, "owner bigint NOT NULL, name varchar(40) NOT NULL, amount integer NOT NULL"))
	stmt, err := e.DB.PrepareContext(b.Context(), e.Insert(t.name, k, []string{"owner", "name", "amount"}, batch))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = stmt.Close() })
	t.stmt = stmt
	if e.Name == database.Postgres {
		e.Settle(b)
	}
	return t
}

// grow adds rows until there are that many, and reports the speed of these and the size of
// all. A second iteration does nothing, and changes no figure.
func (t *table) grow(b *testing.B, rows int) {
	var took time.Duration
	added := 0
	for b.Loop() {
		began := time.Now()
		for t.rows < rows {
			if err := t.insert(b); err != nil {
				b.Fatal(err)
			}
			t.rows += batch
			added += batch
		}
		took += time.Since(began)
	}
	if n := t.e.Count(b, t.name); n != rows || added == 0 {
		b.Fatalf("%d rows, %d of them now; want %d", n, added, rows)
	}
	all, key := t.e.Sizes(b, t.name)
	b.ReportMetric(float64(added)/took.Seconds(), "rows/s")
	b.ReportMetric(float64(all)/float64(rows), "diskB/row")
	if t.e.Name != database.MariaDB {
		b.ReportMetric(float64(key)/float64(rows), "keyB/row")
	}
	b.ReportMetric(0, "ns/op") // rows/s says it
}

func (t *table) insert(b *testing.B) error {
	if !t.key.Auto() {
		if err := t.maker.Fill(t.keys); err != nil {
			return err
		}
	}
	t.args = t.args[:0]
	for i, key := range t.keys {
		if !t.key.Auto() {
			t.args = append(t.args, key)
		}
		t.args = append(t.args, t.rows+i, "the name of a row", i)
	}
	_, err := t.stmt.ExecContext(b.Context(), t.args...)
	return err
}

func TestBenchmarks(t *testing.T) { smoke.Run(t, "Growth", "Keys") }
