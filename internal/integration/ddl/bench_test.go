package ddl

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// BenchmarkTime reads the time of each of a million rows of PostgreSQL: as
// snowflake_time, as the form that cannot be inlined, and in PL/pgSQL, beside the
// floor of reading the ids alone. No parallel workers, so that one core is measured.
func BenchmarkTime(b *testing.B) {
	s := openPostgres(b)
	s.run(b, "SET max_parallel_workers_per_gather = 0",
		"CREATE TABLE ids AS SELECT ((216000000000 + n * 1000) << 22) | (n % 4194304) AS id FROM generate_series(1::bigint, 1000000) n", "VACUUM ANALYZE ids")
	s.run(b, script(b)(ddl.Config{Dialect: ddl.Postgres}.Functions())...)
	s.run(b, "CREATE FUNCTION by_interval(id bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN timestamptz '2010-11-04 01:42:54.657+00' + (id >> 22) * interval '1 ms'",
		"CREATE FUNCTION by_plpgsql(id bigint) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN to_timestamp(((id >> 22) + 1288834974657)::float8 / 1000); END'")
	for _, c := range []struct{ name, of string }{
		{"floor", "id"}, {"snowflake_time", "snowflake_time(id)"}, {"by_interval", "by_interval(id)"}, {"by_plpgsql", "by_plpgsql(id)"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				s.run(b, "SELECT max("+c.of+") FROM ids")
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/1e6rows")
		})
	}
}
