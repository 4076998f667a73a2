package pgxtype_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// However the context ends, Load ends, and nothing stays; not even where the
// caller's own transaction continues and is committed.
func TestLoadContext(t *testing.T) {
	for name, method := range methods {
		for where, run := range map[string]func(ctx context.Context, cancel func(), db pgxtype.Beginner, cfg pgxtype.LoadConfig[order]) error{
			"before": func(ctx context.Context, cancel func(), db pgxtype.Beginner, cfg pgxtype.LoadConfig[order]) error {
				cancel()
				_, err := pgxtype.Load(ctx, db, pgxtype.Seq(slices.Values(makeOrders(30, 5))), cfg)
				return err
			},
			"in the parents": func(ctx context.Context, cancel func(), db pgxtype.Beginner, cfg pgxtype.LoadConfig[order]) error {
				_, err := pgxtype.Load(ctx, db, func(yield func(order, error) bool) {
					for i, o := range makeOrders(30, 5) {
						if i == 20 {
							cancel()
						}
						if !yield(o, nil) {
							return
						}
					}
				}, cfg)
				return err
			},
			"after the last": func(ctx context.Context, cancel func(), db pgxtype.Beginner, cfg pgxtype.LoadConfig[order]) error {
				cfg.Progress = func(l pgxtype.Loaded) {
					if l.Parents == 30 {
						cancel()
					}
				}
				_, err := pgxtype.Load(ctx, db, pgxtype.Seq(slices.Values(makeOrders(30, 5))), cfg)
				return err
			},
			"in the rows": func(ctx context.Context, cancel func(), db pgxtype.Beginner, cfg pgxtype.LoadConfig[order]) error {
				n := 0
				cfg.Tables[1] = pgxtype.ChildTable(pgx.Identifier{"lines"}, lineColumns, func(o *order) []line { return o.Lines }, func(l *line, row []any) []any {
					if n++; n == 100 {
						cancel()
					}
					return lineValues(l, row)
				})
				_, err := pgxtype.Load(ctx, db, pgxtype.Seq(slices.Values(makeOrders(30, 5))), cfg)
				if n != 100 {
					t.Errorf("the row %d was asked for after the end of the context", n)
				}
				return err
			},
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
				cfg := shopConfig(method)
				cfg.ChunkRows = 48
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if err := run(ctx, cancel, s.pool, cfg); !errors.Is(err, context.Canceled) || errors.Is(err, pgxtype.ErrOutcomeUnknown) {
					t.Errorf("%v", err)
				}
				s.empty(t)

				ctx, cancel = context.WithCancel(t.Context())
				defer cancel()
				tx, err := s.pool.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(t.Context(), `create table mine ()`); err != nil {
					t.Fatal(err)
				}
				if err := run(ctx, cancel, tx, shopConfig(method)); !errors.Is(err, context.Canceled) {
					t.Errorf("nested: %v", err)
				}
				committed := tx.Commit(t.Context())
				if kept := s.ask(t, `select count(*) from pg_tables where schemaname = $1 and tablename = 'mine'`, s.schema); (kept == 1) != (committed == nil) {
					t.Errorf("committing: %v, and %d tables", committed, kept)
				}
				if where == "after the last" && committed != nil {
					t.Errorf("the caller's transaction is lost: %v", committed)
				}
				s.empty(t)
			})
		}
	}
}

// A load that waits for a lock can be cancelled.
func TestLoadCancelledWhileLocked(t *testing.T) {
	for _, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
		tx, err := s.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(context.Background()) }() // where this ends early
		if _, err := tx.Exec(t.Context(), `lock table lines in share mode`); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := pgxtype.Load(ctx, s.pool, pgxtype.Seq(slices.Values(makeOrders(3, 3))), shopConfig(method))
			done <- err
		}()
		defer cancel()
		until(t, "the load waits for the lock", func() bool {
			return len(done) > 0 || s.ask(t, `select count(*) from pg_locks where relation = $1::regclass and not granted`, s.schema+".lines") > 0
		})
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
		s.empty(t)
	}
}

// A panic in a function of the caller's reaches the caller, not the runtime, and
// leaves neither rows nor a broken pool.
func TestLoadPanics(t *testing.T) {
	type boom struct{}
	for name, method := range methods {
		for where, change := range map[string]func(cfg *pgxtype.LoadConfig[order]) iter.Seq2[order, error]{
			"first values": func(cfg *pgxtype.LoadConfig[order]) iter.Seq2[order, error] {
				cfg.Tables[0] = pgxtype.ParentTable(pgx.Identifier{"orders"}, orderColumns, func(*order, []any) []any { panic(boom{}) })
				return nil
			},
			"later values": func(cfg *pgxtype.LoadConfig[order]) iter.Seq2[order, error] {
				n := 0
				cfg.Tables[1] = pgxtype.ChildTable(pgx.Identifier{"lines"}, lineColumns, func(o *order) []line { return o.Lines }, func(l *line, row []any) []any {
					if n++; n == 100 {
						panic(boom{})
					}
					return lineValues(l, row)
				})
				return nil
			},
			"sequence": func(cfg *pgxtype.LoadConfig[order]) iter.Seq2[order, error] {
				n := 0
				cfg.Tables[1] = pgxtype.ChildTableSeq(pgx.Identifier{"lines"}, lineColumns, func(o *order) iter.Seq2[line, error] {
					return func(yield func(line, error) bool) {
						if n++; n == 20 {
							panic(boom{})
						}
						for _, l := range o.Lines {
							if !yield(l, nil) {
								return
							}
						}
					}
				}, lineValues)
				return nil
			},
			"progress": func(cfg *pgxtype.LoadConfig[order]) iter.Seq2[order, error] {
				cfg.Progress = func(pgxtype.Loaded) { panic(boom{}) }
				return nil
			},
			"parents": func(*pgxtype.LoadConfig[order]) iter.Seq2[order, error] {
				return func(func(order, error) bool) { panic(boom{}) }
			},
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
				cfg := shopConfig(method)
				cfg.ChunkRows = 48
				parents := change(&cfg)
				if parents == nil {
					parents = pgxtype.Seq(slices.Values(makeOrders(30, 5)))
				}
				defer func() {
					if v := recover(); v != (boom{}) {
						t.Errorf("recovered %v", v)
					}
					s.empty(t)
					s.idle(t)
				}()
				_, err := pgxtype.Load(t.Context(), s.pool, parents, cfg)
				t.Errorf("returned %v", err)
			})
		}
	}
}

// runtime.Goexit, by which t.Fatal ends a test, ends the caller's goroutine as well
// and is not waited for.
func TestLoadGoexit(t *testing.T) {
	for name, method := range methods {
		for _, at := range []int{1, 2, 100} {
			s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
			cfg := shopConfig(method)
			n := 0
			cfg.Tables[1] = pgxtype.ChildTable(pgx.Identifier{"lines"}, lineColumns, func(o *order) []line { return o.Lines }, func(l *line, row []any) []any {
				if n++; n == at {
					runtime.Goexit()
				}
				return lineValues(l, row)
			})
			done := make(chan string, 1)
			go func() {
				how := "exited"
				defer func() { done <- how }()
				_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(makeOrders(30, 5))), cfg)
				how = fmt.Sprint("returned ", err)
			}()
			select {
			case how := <-done:
				if how != "exited" {
					t.Errorf("%s, row %d: %s", name, at, how)
				}
			case <-time.After(enough):
				t.Fatalf("%s, row %d: Load hangs", name, at)
			}
			s.empty(t)
			s.idle(t)
		}
	}
}

// A load that fails in a transaction leaves it usable, with what it held before.
func TestLoadNestedError(t *testing.T) {
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
		tx, err := s.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		orders := makeOrders(30, 5)
		cfg := shopConfig(method)
		cfg.ChunkRows = 48
		if _, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values(orders[:5])), cfg); err != nil {
			t.Fatal(err)
		}
		orders[29].Lines[4].ID = orders[0].Lines[0].ID
		var at *pgxtype.LoadError
		if _, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values(orders[5:])), cfg); !errors.As(err, &at) || at.Row != 124 || at.Parent != 24 {
			t.Errorf("%s: %v", name, err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.ask(t, `select (select count(*) from orders) * 1000 + (select count(*) from lines)`); n != 5025 {
			t.Errorf("%s: %d", name, n)
		}
	}
}
