package pgxload_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

// A row that is loaded costs no allocation beyond what the caller makes.
func TestLoadAllocations(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("coverage changes what escapes")
	}
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create unlogged table t (id bigint, parent bigint, name text, n integer, price float8, made timestamptz, due date)`)
	const rows = 20_000
	for name, method := range methods {
		got := testing.AllocsPerRun(3, func() {
			if _, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, func(w *pgxload.Writer) error {
				table := w.Table("t", "id", "parent", "name", "n", "price", "made", "due")
				id, parent, name, n, price, at := ID(0), ID(1), "a name", 1000, 1.5, time.Now()
				for range rows {
					id++
					table.Row(&id, &parent, &name, &n, &price, &at, &at)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		if got > rows/20 {
			t.Errorf("%s: %v allocations for %d rows", name, got, rows)
		}
		t.Logf("%s: %v allocations for %d rows", name, got, rows)
	}
}
