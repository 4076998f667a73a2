package pgxload_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

// Rows pass through a heap that would not hold them, as rows of the first table, and as the children
// of one row.
func TestLoadMemory(t *testing.T) {
	const rows, most = 100_000, 40 << 20
	text := strings.Repeat("x", 1<<10)
	for name, method := range methods {
		for _, children := range []bool{false, true} {
			// The server reads the rows and drops them, so that the test is fast.
			s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table roots (id bigint); create unlogged table t (id bigint, text text);
	create function drops() returns trigger language plpgsql as 'begin return case when new.id % 100 = 0 then new end; end';
	create trigger drops before insert on t for each row execute function drops()`)
			before, peak := heap(), int64(0)
			loaded, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, func(w *pgxload.Writer) error {
				if children {
					w.Table("roots", "id").Row(1)
				}
				table := w.Table("t", "id", "text")
				for id := range ID(rows) {
					table.Row(&id, &text)
					if id%(rows/20) == rows/20-1 {
						peak = max(peak, heap()-before)
					}
				}
				return nil
			})

			if n := s.ask(t, `select count(*) from t`); err != nil || n != rows/100 || loaded.Tables[len(loaded.Tables)-1] != n {
				t.Errorf("%s, children %t: %d rows, %+v, %v", name, children, n, loaded, err)
			}
			if peak > most || peak == 0 {
				t.Errorf("%s, children %t: the heap grew by %d kB", name, children, peak>>10)
			}
			t.Logf("%s, children %t: %d MB: the heap grew by at most %d kB", name, children, rows>>10, peak>>10)
		}
	}
}

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
