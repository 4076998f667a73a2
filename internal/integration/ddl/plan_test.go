package ddl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// PostgreSQL replaces each call by the body of the function: for every
// layout, and for a column whose type is the domain.
func TestFunctionsAreInlined(t *testing.T) {
	s := openPostgres(t)
	s.Run(t, "CREATE TABLE ids (id bigint NOT NULL, t timestamptz NOT NULL)")
	for _, c := range layouts() {
		config := ddl.Config{Dialect: ddl.Postgres, Layout: c.layout}
		s.Run(t, ok(config.Functions())(t)...)
		s.Run(t, ok(config.Domain())(t)...)
		s.Run(t, "CREATE TABLE domained (id snowflake_id NOT NULL)")
		for _, query := range []string{
			"SELECT snowflake_time(id), snowflake_worker_id(id), snowflake_sequence(id), snowflake_min(t) FROM ids",
			"SELECT snowflake_time(id), snowflake_worker_id(id), snowflake_sequence(id) FROM domained",
			"SELECT * FROM ids WHERE id >= snowflake_min(t - interval '1 day')",
		} {
			t.Run(query, func(t *testing.T) {
				plan := strings.Join(s.Lines(t, "EXPLAIN (VERBOSE) "+query), "\n")
				if strings.Contains(plan, "snowflake_") {
					t.Errorf("%s: a call is left in\n%s", c.name, plan)
				}
			})
		}
		s.Run(t, "DROP TABLE domained", "DROP DOMAIN snowflake_id")
		s.Run(t, ok(config.DropFunctions())(t)...)
	}
	// The check can fail: this one is not.
	s.Run(t, "CREATE FUNCTION snowflake_time(id bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz '2010-11-04 01:42:54.657+00' + (id >> 22) * interval '1 ms'")
	if plan := strings.Join(s.Lines(t, "EXPLAIN (VERBOSE) SELECT snowflake_time(id) FROM ids"), "\n"); !strings.Contains(plan, "snowflake_time") {
		t.Errorf("the slow form is inlined too:\n%s", plan)
	}
}

// partitioned makes the table orders with days around now, each with rows, and
// gives its partitions.
func partitioned(t *testing.T, s *server, p ddl.Partitioning, idType string) []ddl.Partition {
	t.Helper()
	day := time.Now().UTC().Truncate(24 * time.Hour)
	parts, err := p.Bounds(day.AddDate(0, 0, -5), day.AddDate(0, 0, 5))
	if err != nil || len(parts) != 10 {
		t.Fatalf("%d partitions, %v", len(parts), err)
	}
	s.Run(t, "CREATE TABLE orders (id "+idType+" PRIMARY KEY) "+ok(p.Clause(parts))(t))
	if s.Dialect == ddl.Postgres {
		s.Run(t, ok(p.Create(parts))(t)...)
	}
	var rows []string
	for _, part := range parts {
		for i := range int64(50) {
			rows = append(rows, fmt.Sprintf("(%d)", part.Min+i<<22))
		}
	}
	s.Run(t, "INSERT INTO orders VALUES "+strings.Join(rows, ","))
	return parts
}

// read gives the names of the partitions that a query reads, of the given ones.
func read(t *testing.T, s *server, parts []ddl.Partition, query string, args ...any) (names []string) {
	t.Helper()
	how := map[bool]string{true: "EXPLAIN PARTITIONS ", false: "EXPLAIN FORMAT=TRADITIONAL "}[maria(t, s)]
	if s.Dialect == ddl.Postgres {
		how = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
	}
	plan := strings.Join(s.Lines(t, how+query, args...), "\n")
	for _, part := range parts {
		if strings.Contains(plan, part.Name) {
			names = append(names, part.Name)
		}
	}
	if len(names) == 0 {
		t.Errorf("no partition in the plan of %s:\n%s", query, plan)
	}
	return names
}

// A query by bounds of ids reads the partitions of its time and no other, as
// constants, as parameters, and as the server's time.
func TestPruning(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		config := ddl.Config{Dialect: s.Dialect}
		s.Run(t, ok(config.Functions())(t)...)
		idType := "bigint"
		if s.Dialect == ddl.Postgres {
			s.Run(t, ok(config.Domain())(t)...)
			idType = "snowflake_id"
		}
		parts := partitioned(t, s, ddl.Partitioning{Dialect: s.Dialect, Table: "orders", By: ddl.Day}, idType)
		min, max, err := core.Twitter().Range(parts[3].From.Add(time.Hour), parts[4].To)
		if err != nil {
			t.Fatal(err)
		}
		s.Run(t, "ANALYZE "+map[ddl.Dialect]string{ddl.Postgres: "", ddl.MySQL: "TABLE "}[s.Dialect]+"orders")
		check := func(first, last int, query string, args ...any) {
			t.Helper()
			want := make([]string, 0, len(parts))
			for _, part := range parts[first : last+1] {
				want = append(want, part.Name)
			}
			if got := read(t, s, parts, query, args...); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s %d reads %q, want %q", query, args, got, want)
			}
		}
		check(3, 4, fmt.Sprintf("SELECT * FROM orders WHERE id >= %d AND id < %d", min, max))
		// Now lies in the partition 5, whatever midnight passes meanwhile: then in 6.
		today := 5
		if time.Now().After(parts[5].To.Add(-10 * time.Minute)) {
			t.Log("ten minutes before midnight: the server's time is left out")
			today = -1
		}
		if today > 0 {
			check(3, 4, "SELECT * FROM orders WHERE id < "+ok(config.MinNow(time.Since(parts[4].To)-time.Second))(t)+fmt.Sprintf(" AND id >= %d AND id < %d", min, max))
			check(today-2, 9, "SELECT * FROM orders WHERE id >= "+ok(config.MinNow(48*time.Hour))(t))
		}
		if s.Dialect == ddl.Postgres {
			for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
				s.Run(t, "SET plan_cache_mode = "+mode)
				s.Run(t, "PREPARE q(bigint, bigint) AS SELECT * FROM orders WHERE id >= $1 AND id < $2")
				check(3, 4, fmt.Sprintf("EXECUTE q(%d, %d)", min, max))
				s.Run(t, "DEALLOCATE q")
			}
			s.Run(t, "RESET plan_cache_mode")
			check(3, 4, fmt.Sprintf("SELECT * FROM orders WHERE id >= snowflake_min('%s') AND id < snowflake_min('%s')",
				parts[3].From.Format(time.RFC3339), parts[4].To.Format(time.RFC3339)))
			if today > 0 {
				check(today-2, today, "SELECT * FROM orders WHERE id >= snowflake_min(now() - interval '2 days') AND id < snowflake_min(now())")
			}
			// What the docs warn of.
			check(0, 9, "SELECT * FROM orders WHERE snowflake_time(id) >= now() - interval '2 days'")
			return
		}
		check(3, 4, "SELECT * FROM orders WHERE id >= ? AND id < ?", min, max) // prepared by the driver
		since := fmt.Sprintf("SELECT * FROM orders WHERE id >= snowflake_min('%s')", parts[6].From.Format(time.DateTime))
		if maria(t, s) {
			check(6, 9, since)
		} else {
			check(0, 9, since) // MySQL does not call a function for that
		}
	})
}
