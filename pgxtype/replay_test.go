package pgxtype_test

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// once is a sequence that ends with its first run, as a reader of a file.
func once[T any](rows []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for len(rows) > 0 {
			r := rows[0]
			rows = rows[1:]
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Whatever runs dry by an attempt, and wherever that attempt ended: no later one
// passes what is left for all. Each case loses rows if it is not noticed.
func TestRetryRunsDry(t *testing.T) {
	type item struct{ Tenant, ID ID }
	conflict := &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	columns := []string{"tenant", "id"}
	values := func(i *item, row []any) []any { return append(row, &i.Tenant, &i.ID) }
	parents := pgxtype.ParentTable(pgx.Identifier{"items"}, columns, values)
	lists := pgxtype.ChildTable(pgx.Identifier{"items"}, columns, func(i *item) []item { return []item{*i} }, values)
	seqs := pgxtype.ChildTableSeq(pgx.Identifier{"items"}, columns, func(i *item) iter.Seq2[item, error] { return pgxtype.Seq(slices.Values([]item{*i})) }, values)
	var items []item
	for id := range ID(6) {
		items = append(items, item{7, id + 1})
	}
	type load func(tx pgx.Tx, seq iter.Seq2[item, error], cfg pgxtype.LoadConfig[item]) error
	plain := func(tx pgx.Tx, seq iter.Seq2[item, error], cfg pgxtype.LoadConfig[item]) error {
		_, err := pgxtype.Load(t.Context(), tx, seq, cfg)
		return err
	}
	recovers := func(tx pgx.Tx, seq iter.Seq2[item, error], cfg pgxtype.LoadConfig[item]) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = v.(error)
			}
		}()
		return plain(tx, func(yield func(item, error) bool) {
			for i, err := range seq {
				if err != nil {
					panic(err)
				}
				if !yield(i, nil) {
					return
				}
			}
		}, cfg)
	}
	savepoint := func(tx pgx.Tx, seq iter.Seq2[item, error], cfg pgxtype.LoadConfig[item]) error {
		return pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
			return pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error { return plain(tx, seq, cfg) })
		})
	}
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table items (tenant bigint, id bigint primary key); create table heads (id bigint primary key)`)
		for _, tt := range []struct {
			name  string
			load  load
			table pgxtype.Table[item]
			stop  int // the attempt ends after that many parents; 0: after Load
		}{
			{"a chunk sent", plain, parents, 3}, {"savepoint", savepoint, parents, 3},
			{"no chunk sent", plain, parents, 1}, {"savepoint, no chunk sent", savepoint, parents, 1}, {"all sent", plain, parents, 0}, {"savepoint, all sent", savepoint, parents, 0},
			{"a panic", recovers, parents, 3}, {"a panic, no chunk sent", recovers, parents, 1}, {"a panic, no chunk of lists sent", recovers, lists, 1},
			{"lists", plain, lists, 1}, {"lists, all sent", plain, lists, 0},
			{"sequences", plain, seqs, 3}, {"sequences, no chunk sent", plain, seqs, 1}, {"sequences, all sent", plain, seqs, 0},
		} {
			t.Run(tt.name, func(t *testing.T) {
				dry := once(items)
				runs := 0
				err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
					runs++
					err := tt.load(tx, func(yield func(item, error) bool) {
						n := 0
						for i, err := range dry {
							if n++; runs == 1 && tt.stop > 0 && n > tt.stop {
								yield(i, conflict)
								return
							}
							if !yield(i, err) {
								return
							}
						}
					}, pgxtype.LoadConfig[item]{Tables: []pgxtype.Table[item]{tt.table}, Method: method, ChunkRows: 2})
					if err == nil && runs == 1 {
						return conflict
					}
					return err
				})
				if err == nil || !strings.Contains(err.Error(), "must load the same rows") || runs != 2 {
					t.Errorf("%s, %s: %v after %d runs", name, tt.name, err, runs)
				}
				if n := s.ask(t, `select count(*) from items`); n != 0 {
					t.Errorf("%s, %s: %d of 6 rows, and no error", name, tt.name, n)
				}
			})
		}
		// Parents that are read again, with children that are not.
		for stop := range 4 {
			dry := []iter.Seq2[item, error]{once(items[:2]), once(items[2:4]), once(items[4:])}
			if stop == 3 {
				dry[0] = pgxtype.Seq(slices.Values(items[:2])) // the first can be repeated, the others cannot
			}
			runs := 0
			err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
				runs++
				_, err := pgxtype.Load(t.Context(), tx, func(yield func(int, error) bool) {
					for i := range 3 {
						var err error
						if runs == 1 && i == stop {
							err = conflict
						}
						if !yield(i, err) {
							return
						}
					}
				}, pgxtype.LoadConfig[int]{Method: method, ChunkRows: 1, Tables: []pgxtype.Table[int]{
					pgxtype.ParentTable(pgx.Identifier{"heads"}, []string{"id"}, func(i *int, row []any) []any { return append(row, i) }),
					pgxtype.ChildTableSeq(pgx.Identifier{"items"}, columns, func(i *int) iter.Seq2[item, error] { return dry[*i] }, values),
				}})
				if err == nil && runs == 1 {
					return conflict
				}
				return err
			})
			rows := s.ask(t, `select count(*) from items`)
			if stop == 0 && (err != nil || rows != 6) || stop > 0 && (err == nil || !strings.Contains(err.Error(), `"items"`) || !strings.Contains(err.Error(), "must load the same rows") || rows != 0) {
				t.Errorf("%s, details, stopped at %d: %v, %d rows", name, stop, err, rows)
			}
			if _, err := s.pool.Exec(t.Context(), `truncate heads, items`); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What can be run again is written, whatever its first attempt came to: values
// that are maps are encoded in any order, and are not compared.
func TestRetryRepeats(t *testing.T) {
	conflict := &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table docs (id bigint primary key, doc jsonb, at timestamptz)`)
		for column, value := range map[string]func(run int) any{
			"doc": func(run int) any { return map[string]int{"run": run} },
			"at":  func(run int) any { return time.Date(2026, 11, 21, 8, run, 0, 0, time.UTC) },
		} {
			runs := 0
			err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
				runs++
				err := pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
					_, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values([]ID{1, 2, 3})), pgxtype.LoadConfig[ID]{Method: method, Tables: []pgxtype.Table[ID]{
						pgxtype.ParentTable(pgx.Identifier{"docs"}, []string{"id", column}, func(id *ID, row []any) []any { return append(row, id, value(runs)) }),
					}})
					return err
				})
				if err == nil && runs == 1 {
					return conflict
				}
				return err
			})
			rows := s.ask(t, `select count(*) from docs`)
			if column == "doc" && (err != nil || rows != 3) || column == "at" && (err == nil || !strings.Contains(err.Error(), `column "at": the first row differs`) || rows != 0) {
				t.Errorf("%s, %s: %v, %d rows", name, column, err, rows)
			}
			if _, err := s.pool.Exec(t.Context(), `truncate docs`); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A sequence that ends with its first run would lose its rows in the second, and
// keys that are made in f would be others: both are errors, and nothing is written.
func TestRetrySameRows(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
	conflict := &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	for name, method := range methods {
		orders := makeOrders(30, 3)
		for what, tt := range map[string]struct {
			parents func(attempt int) iter.Seq2[order, error]
			fails   bool
		}{
			"the same":    {func(int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders)) }, false},
			"none":        {func(int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders[:0])) }, false},
			"other keys":  {func(attempt int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders[3*attempt:])) }, true},
			"none later":  {func(attempt int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders[:30-30*attempt])) }, true},
			"none before": {func(attempt int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders[:30*attempt])) }, true},
		} {
			t.Run(what, func(t *testing.T) {
				if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
					t.Fatal(err)
				}
				attempt := -1
				err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
					attempt++
					for _, cfg := range []pgxtype.LoadConfig[order]{{Tables: shopConfig(method).Tables[:1], Method: method}, {Tables: shopConfig(method).Tables[1:], Method: method}} {
						if _, err := pgxtype.Load(t.Context(), tx, tt.parents(attempt), cfg); err != nil {
							return err
						}
					}
					if attempt == 0 {
						return conflict
					}
					return nil
				})
				if tt.fails != (err != nil) || tt.fails && !strings.Contains(err.Error(), "must load the same rows") || attempt != 1 {
					t.Errorf("%s, %s: %v after %d", name, what, err, attempt)
				}
				if n := s.ask(t, `select count(*) from orders`); tt.fails && n != 0 || what == "the same" && n != 30 {
					t.Errorf("%s, %s: %d orders", name, what, n)
				}
			})
		}
		if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
			t.Fatal(err)
		}
		// Taken in part by the attempt that failed: the rest must not pass for all.
		seq, attempt := once(orders), 0
		err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
			attempt++
			cfg := shopConfig(method)
			cfg.ChunkRows = 20
			_, err := pgxtype.Load(t.Context(), tx, func(yield func(order, error) bool) {
				n := 0
				for o, err := range seq {
					if err != nil {
						t.Error(err)
					}
					if n++; attempt == 1 && n == 12 {
						yield(o, conflict)
						return
					}
					if !yield(o, nil) {
						return
					}
				}
			}, cfg)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), `column "id": the first row differs`) || attempt != 2 {
			t.Errorf("%s, in part: %v", name, err)
		}
		s.empty(t)
	}
}
