package pgxtype_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// If the deadline passes while a table is locked, the error names that table. The lock
// may block its rows or the query for its columns.
func TestLoadDeadline(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t0 (id bigint primary key);
	create table t1 (id bigint primary key);
	create table t2 (id bigint primary key)`)
	for name, method := range methods {
		for locked := range 3 {
			for _, mode := range []string{"share", "access exclusive"} {
				for _, conflict := range []bool{false, true} {
					what := fmt.Sprintf("%s, t%d in %s mode, on conflict %v", name, locked, mode, conflict)
					cfg := pgxtype.LoadConfig[ID]{Method: method}
					for i := range 3 {
						table := pgxtype.ParentTable(pgx.Identifier{fmt.Sprint("t", i)}, []string{"id"}, func(id *ID, row []any) []any { return append(row, id) })
						if conflict {
							table = table.OnConflict(pgxtype.Conflict{Key: []string{"id"}})
						}
						cfg.Tables = append(cfg.Tables, table)
					}
					tx, err := s.pool.Begin(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if _, err := tx.Exec(t.Context(), fmt.Sprintf("lock table t%d in %s mode", locked, mode)); err != nil {
						t.Fatal(err)
					}
					// The deadline is over once the load waits.
					ctx, cancel := context.WithCancelCause(t.Context())
					done := make(chan error, 1)
					go func() {
						_, err := pgxtype.Load(ctx, s.pool, pgxtype.Seq(slices.Values([]ID{1, 2, 3})), cfg)
						done <- err
					}()
					until(t, what+": the load waits", func() bool {
						return len(done) > 0 || s.ask(t, `select count(*) from pg_locks where not granted and relation = $1::regclass`, fmt.Sprintf("%s.t%d", s.schema, locked)) > 0
					})
					time.Sleep(20 * time.Millisecond) // what the server has answered is on its way
					cancel(context.DeadlineExceeded)
					err = <-done
					var at *pgxtype.LoadError
					if !errors.As(err, &at) || at.Table[0] != fmt.Sprint("t", locked) || at.Row != -1 || !errors.Is(err, context.Canceled) {
						t.Errorf("%s: %v", what, err)
					}
					if err := tx.Rollback(t.Context()); err != nil {
						t.Error(err)
					}
					for i := range 3 {
						if n := s.ask(t, fmt.Sprintf("select count(*) from t%d", i)); n != 0 {
							t.Errorf("%s: %d rows stayed", what, n)
						}
					}
				}
			}
		}
	}
}

// An error quotes the value that cannot be encoded, never its address.
func TestLoadQuotesValues(t *testing.T) {
	type place struct {
		Street *string
		Loop   any
	}
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t (id bigint, n int, at timestamptz, p point, b boolean)`)
	text, long, number, id := "abc\x00def", strings.Repeat("é", 1000), int64(1)<<40, ID(-7)
	pointer := &text
	raw := []byte{1, 0xfe}
	for _, tt := range []struct {
		column string
		value  any
		want   string
	}{
		{"n", &text, `"abc\x00def" (*string) cannot be sent as int4`},
		{"n", &pointer, `"abc\x00def" (**string) cannot be sent as int4`},
		{"n", text, `"abc\x00def" (string) cannot be sent as int4`},
		{"n", &number, `1099511627776 (*int64) cannot be sent as int4`},
		{"id", &id, `-7 (*sqltype.ID) cannot be sent as int8`},
		{"id", valid(-7), `(sqltype.NullID) cannot be sent as int8`},
		{"at", &long, `"` + strings.Repeat("é", 50) + `…" (*string) cannot be sent as timestamptz`},
		{"at", &raw, `2 bytes 01fe (*[]uint8) cannot be sent as timestamptz`},
		{"p", &place{Street: &text}, `{"Street":"abc\u0000def","Loop":null} (*pgxtype_test.place) cannot be sent as point`},
		{"p", &place{Loop: make(chan int)}, `a value (*pgxtype_test.place) cannot be sent as point`},
		{"b", []*string{&text}, `["abc\u0000def"] ([]*string) cannot be sent as bool`},
		{"b", map[string]*int64{"k": &number}, `{"k":1099511627776} (map[string]*int64) cannot be sent as bool`},
	} {
		t.Run(tt.column, func(t *testing.T) {
			for name, method := range methods {
				_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]ID{1})), pgxtype.LoadConfig[ID]{Method: method, Tables: []pgxtype.Table[ID]{
					pgxtype.ParentTable(pgx.Identifier{"t"}, []string{tt.column}, func(_ *ID, row []any) []any { return append(row, tt.value) }),
				}})
				var at *pgxtype.LoadError
				if !errors.As(err, &at) || at.Column != tt.column || at.Row != 0 || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "0xc") || strings.Contains(err.Error(), "(0x") {
					t.Errorf("%s: %v; want %s", name, err, tt.want)
				}
			}
		})
	}
}
