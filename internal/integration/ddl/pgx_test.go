package ddl

import (
	"math"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// pgx reads what database/sql reads, in each of its modes.
func TestReadRowsOfPgx(t *testing.T) {
	s := openPostgres(t)
	p := ddl.Partitioning{Dialect: s.dialect, Schema: one[string](t, s, "SELECT current_schema"), Table: `The "orders".`, By: ddl.Month}
	parts, err := p.Bounds(november, november.AddDate(0, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	parts = append(parts, ddl.Partition{Name: "Open", Min: parts[1].Max, Max: math.MaxInt64}, ddl.Partition{Name: "rest", Default: true})
	s.run(t, "CREATE TABLE "+quoted(s, p.Table)+" (id bigint PRIMARY KEY) "+text(t)(p.Clause(nil)))
	s.run(t, script(t)(p.Create(parts))...)
	want, err := p.Read(t.Context(), s)
	if err != nil || len(want) != 4 || !want[3].Default {
		t.Fatalf("read %+v, %v", want, err)
	}

	config, err := pgxpool.ParseConfig(s.dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		config.ConnConfig.DefaultQueryExecMode = mode
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		rows, err := pool.Query(t.Context(), text(t)(p.Existing()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.ReadRows(rows); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %+v, %v, want %+v", mode, got, err, want)
		}
		rows.Close()
		// An error while the rows are read is returned.
		rows, err = pool.Query(t.Context(), "SELECT 'x', (1/(2-g))::bigint, NULL::bigint, NULL::text, false FROM generate_series(1, 2) g")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.ReadRows(rows); err == nil {
			t.Errorf("%v: %v", mode, got)
		}
		rows.Close()
	}
}
