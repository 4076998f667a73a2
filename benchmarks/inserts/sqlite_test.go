package inserts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/cputime"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
)

// liteForm is a form that a table of SQLite may have.
type liteForm struct {
	name, key, options string
	trigger, auto      bool
}

func liteForms() []liteForm {
	return []liteForm{
		{name: "snowkey", key: "integer PRIMARY KEY"},
		{name: "with-trigger", key: "integer PRIMARY KEY", trigger: true},
		{name: "bigint", key: "bigint PRIMARY KEY"}, // an index next to the rows
		{name: "without-rowid", key: "bigint NOT NULL PRIMARY KEY", options: " WITHOUT ROWID"},
		{name: "auto", key: "integer PRIMARY KEY", auto: true},
		{name: "autoincrement", key: "integer PRIMARY KEY AUTOINCREMENT", auto: true},
	}
}

// BenchmarkSQLiteKeys fills tables whose key has one of the forms, with rows that are
// narrow, have an index, or are long. cpu-rows/s goes by the time that the process was
// busy.
func BenchmarkSQLiteKeys(b *testing.B) {
	e := database.Open(b, database.SQLite, false)
	warm(b, e)
	for _, shape := range []struct {
		name  string
		rows  int
		bytes int
		index bool
	}{
		{"narrow", 50_000, 10, false},
		{"indexed", 30_000, 10, true},
		{"500B", 10_000, 500, false},
		{"1200B", 5_000, 1200, false},
	} {
		rows := scale.Pick(b, 200, shape.rows)
		for _, f := range scale.Rotate(b, liteForms()) {
			b.Run("rows="+shape.name+"/key="+f.name, func(b *testing.B) { f.insert(b, e, rows, shape.bytes, shape.index) })
		}
	}
}

func (f liteForm) insert(b *testing.B, e *database.Engine, rows, size int, index bool) {
	const batch = 100
	kinds := database.Keys()
	key := kinds[1] // snowflake
	if f.auto {
		key = kinds[0]
	}
	note := strings.Repeat("x", size)
	var w written
	var busy time.Duration
	for b.Loop() {
		b.StopTimer()
		table := e.Fresh("key")
		e.Exec(b, fmt.Sprintf("CREATE TABLE %s (id %s, owner bigint NOT NULL, note text NOT NULL)%s", table, f.key, f.options))
		if index {
			e.Exec(b, fmt.Sprintf("CREATE INDEX %s_owner ON %[1]s (owner)", table))
		}
		if f.trigger {
			e.Exec(b, fmt.Sprintf("CREATE TRIGGER %s_key BEFORE INSERT ON %[1]s WHEN NEW.id <= 0 BEGIN SELECT RAISE(ABORT, 'no key'); END", table))
		}
		in := newInserter(b, e, key, table, []string{"owner", "note"}, batch)
		e.Settle(b)
		since := cputime.Busy(b)
		b.StartTimer()
		for at := 0; at < rows; at += batch {
			if err := in.write(b, func(i int, args []any) []any { return append(args, (at+i)*7919%100_003, note) }); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		busy += cputime.Busy(b) - since
		w.add(b, e, int64(rows), table)
		in.close(b)
		e.Exec(b, "DROP TABLE "+table)
		b.StartTimer()
	}
	w.report(b, e)
	if busy > 0 {
		b.ReportMetric(float64(w.rows)/busy.Seconds(), "cpu-rows/s")
	}
}
