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
	p := ddl.Partitioning{Dialect: s.Dialect, Schema: one[string](t, s, "SELECT current_schema"), Table: `The "orders".`, By: ddl.Month}
	parts := ok(p.Bounds(november, november.AddDate(0, 1, 0)))(t)
	parts = append(parts, ddl.Partition{Name: "Open", Min: parts[1].Max, Max: math.MaxInt64}, ddl.Partition{Name: "rest", Default: true})
	s.Run(t, "CREATE TABLE "+quoted(s, p.Table)+" (id bigint PRIMARY KEY) "+ok(p.Clause(nil))(t))
	s.Run(t, ok(p.Create(parts))(t)...)
	want, err := p.Read(t.Context(), s)
	if err != nil || len(want) != 4 || !want[3].Default {
		t.Fatalf("read %+v, %v", want, err)
	}

	config := ok(pgxpool.ParseConfig(s.DSN))(t)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		config.ConnConfig.DefaultQueryExecMode = mode
		pool := ok(pgxpool.NewWithConfig(t.Context(), config))(t)
		defer pool.Close()
		rows := ok(pool.Query(t.Context(), ok(p.Existing())(t)))(t)
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
