package pgxkeys

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/smoke"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// BenchmarkPgxCopy copies rows of two keys into a temporary table without an
// index. Keys are handed to pgx by pointer or by value, whichever costs less for
// the type.
func BenchmarkPgxCopy(b *testing.B) {
	rows := scale.Pick(b, 100, 10_000)
	server := testserver.Postgres(b)
	for _, k := range scale.Rotate(b, keys()) {
		b.Run("lib="+k.name, func(b *testing.B) {
			conn, err := pgx.Connect(b.Context(), server.DSN)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close(context.Background())
			columnType, register, row := k.row(b)
			register(conn.TypeMap())
			if _, err := conn.Exec(b.Context(), `CREATE TEMP TABLE copied (a `+columnType+`, b `+columnType+`)`); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				n, err := conn.CopyFrom(b.Context(), pgx.Identifier{"copied"}, []string{"a", "b"},
					pgx.CopyFromSlice(rows, func(i int) ([]any, error) { return row(i), nil }))
				if err != nil || n != int64(rows) {
					b.Fatal(n, err)
				}
				b.StopTimer()
				if _, err := conn.Exec(b.Context(), `TRUNCATE copied`); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(0, "ns/op") // rows/s says it
		})
	}
}

func TestBenchmarks(t *testing.T) { smoke.Run(t, "PgxEncode", "PgxScan", "PgxCopy") }
