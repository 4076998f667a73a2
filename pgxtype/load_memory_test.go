package pgxtype_test

import (
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// heap is what is in use and cannot be collected, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A million rows pass through a heap that would not hold them: they are half a
// kilobyte each. As parents, and as the children of one parent.
func TestLoadMemory(t *testing.T) {
	const size = 512
	rows, most := 1_000_000, int64(64<<20)
	if testing.Short() || raceEnabled {
		rows = 200_000
	}
	type payload struct {
		ID   ID
		Text string
	}
	make1 := func(i int) payload { return payload{ID(i + 1), strings.Repeat("x", size)} }
	values := func(p *payload, row []any) []any { return append(row, &p.ID, len(p.Text)) }
	columns := []string{"id", "n"}
	name := pgx.Identifier{"t"}
	for method, m := range methods {
		for shape, load := range map[string]func(s *shop, look func(i int)) (pgxtype.Loaded, error){
			"parents": func(s *shop, look func(i int)) (pgxtype.Loaded, error) {
				return pgxtype.Load(t.Context(), s.pool, func(yield func(payload, error) bool) {
					for i := range rows {
						look(i)
						if !yield(make1(i), nil) {
							return
						}
					}
				}, pgxtype.LoadConfig[payload]{Method: m, Tables: []pgxtype.Table[payload]{pgxtype.ParentTable(name, columns, values)}})
			},
			"children of one": func(s *shop, look func(i int)) (pgxtype.Loaded, error) {
				return pgxtype.Load(t.Context(), s.pool, func(yield func(int, error) bool) { yield(0, nil) },
					pgxtype.LoadConfig[int]{Method: m, Tables: []pgxtype.Table[int]{pgxtype.ChildTableSeq(name, columns, func(*int) iter.Seq2[payload, error] {
						return func(yield func(payload, error) bool) {
							for i := range rows {
								look(i)
								if !yield(make1(i), nil) {
									return
								}
							}
						}
					}, values)}})
			},
		} {
			t.Run(method+"/"+shape, func(t *testing.T) {
				s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create unlogged table t (id bigint primary key, n int)`)
				before, peak := heap(), int64(0)
				loaded, err := load(s, func(i int) {
					if i%(rows/20) == rows/20-1 {
						peak = max(peak, heap()-before)
					}
				})
				if err != nil || loaded.Rows != int64(rows) || s.ask(t, `select count(*) from t`) != int64(rows) {
					t.Fatalf("%+v, %v", loaded, err)
				}
				if peak > most || peak == 0 {
					t.Errorf("the heap grew by %d MB, while the rows have %d MB", peak>>20, int64(rows)*size>>20)
				}
				t.Logf("%d rows: the heap grew by at most %d kB", rows, peak>>10)
			})
		}
	}
}

// A row that is loaded costs no allocation beyond what the caller makes.
func TestLoadAllocations(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("coverage changes what escapes")
	}
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create unlogged table t (id bigint, parent bigint, name text, n integer, price float8, made timestamptz, due date)`)
	type link struct {
		ID, Parent ID
		Name       string
		N          int
		Price      float64
		Made, Due  time.Time
	}
	now := time.Now()
	for name, method := range methods {
		cfg := pgxtype.LoadConfig[link]{Method: method, Tables: []pgxtype.Table[link]{
			pgxtype.ParentTable(pgx.Identifier{"t"}, []string{"id", "parent", "name", "n", "price", "made", "due"}, func(l *link, row []any) []any {
				return append(row, &l.ID, &l.Parent, &l.Name, &l.N, &l.Price, &l.Made, &l.Due)
			}),
		}}
		const rows = 20_000
		got := testing.AllocsPerRun(3, func() {
			if _, err := pgxtype.Load(t.Context(), s.pool, func(yield func(link, error) bool) {
				for i := range rows {
					if !yield(link{ID(i + 1), 1, "a name", 1000 + i, float64(i), now, now}, nil) {
						return
					}
				}
			}, cfg); err != nil {
				t.Error(err)
			}
		})
		if got > rows/20 {
			t.Errorf("%s: %v allocations for %d rows", name, got, rows)
		}
		t.Logf("%s: %v allocations for %d rows", name, got, rows)
	}
}
