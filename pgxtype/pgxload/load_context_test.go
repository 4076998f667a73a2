package pgxload_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const smallChunk = 2000 // bytes; 30 orders of 5 lines have several

// However the context ends, Load ends, and nothing stays; not even where the
// caller's own transaction continues and is committed.
func TestLoadContext(t *testing.T) {
	for name, method := range methods {
		for where, end := range map[string]int{"before": 0, "after the first chunk": 100, "at the last row": 150, "after the last row": 151} {
			t.Run(name+"/"+where, func(t *testing.T) {
				s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
				run := func(db pgxload.Beginner) error {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if end == 0 {
						cancel()
					}
					cfg := pgxload.Config{Method: method, ChunkBytes: smallChunk}
					if end == 151 {
						cfg.Progress = func(l pgxload.Loaded) {
							if l.Rows == 180 {
								cancel()
							}
						}
					}
					_, err := pgxload.LoadWith(ctx, db, cfg, hooked(makeOrders(30, 5), func(n int, w *pgxload.Writer) {
						if n == end {
							cancel()
						}
						if ended := n >= end; ended != (w.Err() != nil) || ended && !errors.Is(w.Err(), context.Canceled) {
							t.Errorf("line %d: Err is %v", n, w.Err())
						}
					}))
					return err
				}
				if err := run(s.pool); !errors.Is(err, context.Canceled) || errors.Is(err, sqltype.ErrOutcomeUnknown) {
					t.Errorf("%v", err)
				}
				s.empty(t)

				tx := s.begin(t, `create table mine ()`)
				if err := run(tx); !errors.Is(err, context.Canceled) {
					t.Errorf("nested: %v", err)
				}
				committed := tx.Commit(t.Context())
				if kept := s.ask(t, `select count(*) from pg_tables where schemaname = $1 and tablename = 'mine'`, s.schema); (kept == 1) != (committed == nil) {
					t.Errorf("committing: %v, and %d tables", committed, kept)
				}
				if end != 100 && end != 150 && committed != nil { // when no chunk can be on its way
					t.Errorf("the caller's transaction is lost: %v", committed)
				}
				s.empty(t)
			})
		}
	}
}

type boom struct{}

// A panic in a function of the caller's reaches the caller, not the runtime, and so does runtime.Goexit,
// by which t.Fatal ends a test. They leave neither rows nor a broken connection.
func TestLoadPanics(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
	s.exec(t, `create function notify() returns trigger language plpgsql as 'begin raise notice ''here''; return null; end'`)
	s.exec(t, `create trigger notify after insert on lines execute function notify()`)
	for name, method := range methods {
		for _, tt := range []struct {
			name             string
			row              int  // of lines, at which f ends; 0: it does not
			progress, notice bool // whose handlers end at once, or after f
			chunk            int
		}{
			{"first row", 1, false, false, smallChunk},
			{"second row", 2, false, false, smallChunk},
			{"later row", 100, false, false, smallChunk},
			{"progress", 0, true, false, smallChunk},
			{"later row, then progress", 100, true, false, smallChunk},
			{"notice", 0, false, true, smallChunk},
			{"notice, last chunk", 0, false, true, 0},
		} {
			for how, stop := range map[string]func(){"panicked": func() { panic(boom{}) }, "exited": runtime.Goexit} {
				what := name + ", " + tt.name + ", " + how
				config := s.pool.Config().ConnConfig.Copy()
				config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {
					if tt.notice {
						stop()
					}
				}
				conn, err := pgx.ConnectConfig(t.Context(), config)
				must(t, err)
				var used *pgxload.Writer
				done := make(chan string, 1)
				go func() {
					got := "exited"
					defer func() {
						if recover() == (boom{}) {
							got = "panicked"
						}
						done <- got
					}()
					ready := tt.row == 0
					_, err := pgxload.LoadWith(t.Context(), conn, pgxload.Config{Method: method, ChunkBytes: tt.chunk, Progress: func(pgxload.Loaded) {
						if tt.progress && ready {
							stop()
						}
					}}, func(w *pgxload.Writer) error {
						used = w
						return hooked(makeOrders(30, 5), func(n int, _ *pgxload.Writer) {
							if n == tt.row {
								ready = true
								stop()
							}
						})(w)
					})
					got = fmt.Sprint("returned ", err)
				}()
				want := how
				if tt.notice && how == "exited" { // it ends another goroutine
					want = "returned pgxload: a handler of notices or a tracer has stopped the load"
				}
				select {
				case got := <-done:
					if got != want {
						t.Errorf("%s: %s", what, got)
					}
				case <-time.After(enough):
					t.Fatalf("%s: Load hangs", what)
				}
				if used.Err() == nil {
					t.Errorf("%s: the Writer is still usable", what)
				}
				s.empty(t)
				if !conn.IsClosed() { // otherwise it is ready for the next
					if _, err := conn.Exec(t.Context(), `select 1`); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				}
				_ = conn.Close(t.Context())
			}
		}
	}
}

// firstQuery is a tracer that panics at the first savepoint of a load.
type firstQuery struct{ panics bool }

func (q *firstQuery) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if q.panics && strings.HasPrefix(data.SQL, "savepoint snowkey") {
		q.panics = false
		panic(boom{})
	}
	return ctx
}
func (*firstQuery) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// If f recovers from a panic while a chunk was sent, Load fails all the same: the chunk is not there.
func TestLoadRecovers(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
	for name, method := range methods {
		config := s.pool.Config().ConnConfig.Copy()
		config.Tracer = &firstQuery{panics: true}
		conn, err := pgx.ConnectConfig(t.Context(), config)
		must(t, err)
		recovered := 0
		loaded, err := pgxload.LoadWith(t.Context(), conn, pgxload.Config{Method: method, ChunkBytes: 1}, func(w *pgxload.Writer) error {
			orders, _ := tablesOf(w)
			for _, o := range makeOrders(10, 0) {
				func() {
					defer func() {
						if recover() != nil {
							recovered++
						}
					}()
					orders.Row(o.row()...)
				}()
			}
			return nil
		})
		if err == nil || recovered != 1 {
			t.Errorf("%s: recovered %d times, %+v, %v", name, recovered, loaded, err)
		}
		s.empty(t)
		_ = conn.Close(t.Context())
	}
}

// A load that fails in a transaction leaves it usable, with what it held before.
func TestLoadNestedError(t *testing.T) {
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
		tx := s.begin(t)
		orders := makeOrders(30, 5)
		load := func(orders []order) error {
			_, err := pgxload.LoadWith(t.Context(), tx, pgxload.Config{Method: method, ChunkBytes: smallChunk}, writeOrders(orders))
			return err
		}
		must(t, load(orders[:5]))
		orders[29].Lines[4].ID = orders[0].Lines[0].ID
		if err := load(orders[5:]); at(err).Table != "lines" || at(err).Row != 124 {
			t.Errorf("%s: %v", name, err)
		}
		must(t, tx.Commit(t.Context()))
		if n := s.ask(t, `select (select count(*) from orders) * 1000 + (select count(*) from lines)`); n != 5025 {
			t.Errorf("%s: %d", name, n)
		}
	}
}

// panicking is a value whose method panics.
type panicking struct{}

func (panicking) Value() (driver.Value, error) { panic(boom{}) }

// If f recovers from a panic of a value, Load fails all the same: the row is not there.
func TestLoadRecoversFromValue(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t (id bigint, note text)`)
	for name, method := range methods {
		loaded, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, func(w *pgxload.Writer) error {
			table := w.Table("t", "id", "note")
			table.Row(1, "x")
			func() {
				defer func() { _ = recover() }()
				table.Row(2, panicking{})
			}()
			table.Row(3, "x")
			return nil
		})
		if n := s.ask(t, `select count(*) from t`); err == nil || !strings.Contains(err.Error(), "a value has panicked") || n != 0 {
			t.Errorf("%s: %+v, %d rows, %v", name, loaded, n, err)
		}
	}
}

// If the caller's transaction ends within Load, no chunk is written outside a transaction, neither while
// there are savepoints nor after.
func TestLoadEnded(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t (id bigint)`)
	for name, method := range methods {
		for _, chunk := range []int64{3, 70} {
			tx := s.begin(t)
			_, err := pgxload.LoadWith(t.Context(), tx, pgxload.Config{Method: method, ChunkBytes: 1, Progress: func(l pgxload.Loaded) {
				if l.Rows == chunk {
					if _, err := tx.Exec(t.Context(), `rollback`); err != nil {
						t.Error(err)
					}
				}
			}}, writeRows("t", "id", ids(make([]ID, 100)...)...))
			if n := s.ask(t, `select count(*) from t`); err == nil || !strings.Contains(err.Error(), "has ended the transaction") || n != 0 {
				t.Errorf("%s, chunk %d: %d rows, %v", name, chunk, n, err)
			}
			if err := tx.Commit(t.Context()); err == nil {
				t.Errorf("%s, chunk %d: COMMIT succeeds", name, chunk)
			}
		}
	}
}
