package pgxload_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
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
				for _, chunk := range []int{0, 1} { // 1: a chunk is on its way while f writes, waits or has returned
					table := fmt.Sprint("t", locked)
					what := fmt.Sprintf("%s, %s in %s mode, chunks of %d bytes", name, table, mode, chunk)
					load := func(pause time.Duration) error {
						tx := s.begin(t, "lock table "+table+" in "+mode+" mode")
						// The deadline is over once the load waits.
						ctx, cancel := context.WithCancelCause(t.Context())
						done := make(chan error, 1)
						go func() {
							_, err := pgxload.LoadWith(ctx, s.pool, pgxload.Config{Method: method, ChunkBytes: chunk}, func(w *pgxload.Writer) error {
								tables := []*pgxload.Table{w.Table("t0", "id"), w.Table("t1", "id"), w.Table("t2", "id")}
								for id := range 9 {
									tables[id%3].Row(id)
								}
								return nil
							})
							done <- err
						}()
						until(t, what+": the load waits", func() bool {
							return len(done) > 0 || s.ask(t, `select count(*) from pg_locks where not granted and relation = $1::regclass`, s.schema+"."+table) > 0
						})
						time.Sleep(pause) // what the server has answered is on its way
						cancel(context.DeadlineExceeded)
						err := <-done
						if err := tx.Rollback(t.Context()); err != nil {
							t.Error(err)
						}
						return err
					}
					err := load(20 * time.Millisecond)
					if at(err).Table != table { // a busy machine may need longer
						err = load(2 * time.Second)
					}
					if at(err).Table != table || at(err).Row != -1 || !errors.Is(err, context.Canceled) {
						t.Errorf("%s: %v", what, err)
					}
					if n := s.ask(t, "select count(*) from (select from t0 union all select from t1 union all select from t2) all_rows"); n != 0 {
						t.Errorf("%s: %d rows stayed", what, n)
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
	for _, tt := range []struct {
		column string
		value  any
		want   string
	}{
		{"n", &text, `"abc\x00def" (*string) cannot be sent as integer`},
		{"n", &pointer, `"abc\x00def" (**string) cannot be sent as integer`},
		{"n", &number, `1099511627776 (*int64) cannot be sent as integer`},
		{"id", &id, `-7 (*sqltype.ID) cannot be sent as bigint`},
		{"id", valid(-7), `a value (sqltype.NullID) cannot be sent as bigint`},
		{"at", &long, `"` + strings.Repeat("é", 100) + `"… (*string) cannot be sent as timestamp with time zone`},
		{"p", &place{Street: &text}, `{"Street":"abc\u0000def","Loop":null} (*pgxload_test.place) cannot be sent as point`},
		{"p", &place{Loop: make(chan int)}, `a value (*pgxload_test.place) cannot be sent as point`},
		{"b", []*string{&text}, `["abc\u0000def"] ([]*string) cannot be sent as boolean`},
		{"b", errValue{}, `{} (pgxload_test.errValue) cannot be sent as boolean: other`}, // its own error
	} {
		for name, method := range methods {
			_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writeRows("t", tt.column, row{tt.value}))
			if at(err).Column != tt.column || at(err).Row != 0 || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "0xc") || strings.Contains(err.Error(), "(0x") {
				t.Errorf("%s: %v; want %s", name, err, tt.want)
			}
		}
	}
}

type errValue struct{}

func (errValue) Value() (driver.Value, error) { return nil, errOther }
