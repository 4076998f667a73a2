package pgxtype_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

const counters = `create table counters (id bigint primary key, n int not null);
	insert into counters values (1, 0), (2, 0);
	` + shopTables

// Serializable transactions that read what the others write. Each increments
// once, whatever it took.
func TestRetrySerialization(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, counters)
	const writers = 4
	var runs atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	var met sync.WaitGroup
	met.Add(writers)
	for w := range writers {
		wg.Go(func() {
			<-start
			first := true
			orders := makeOrders(3, 3)
			for i := range orders { // keys of its own
				orders[i].ID += ID(w * 1000)
				orders[i].ParentID = NullID{}
				for j := range orders[i].Lines {
					l := &orders[i].Lines[j]
					l.ID, l.OrderID = l.ID+ID(w*1000), orders[i].ID
					l.SKU = l.ID.String()
				}
			}
			err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{Attempts: 50, Tx: pgx.TxOptions{IsoLevel: pgx.Serializable}}, func(tx pgx.Tx) error {
				runs.Add(1)
				var n int
				if err := tx.QueryRow(t.Context(), `select sum(n) from counters`).Scan(&n); err != nil {
					return err
				}
				if first { // all have read before one writes: all but one must fail
					first = false
					met.Done()
					met.Wait()
				}
				if _, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values(orders)), shopConfig(pgxtype.Copy)); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `update counters set n = $1 where id = 1`, n+1)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	if n := s.ask(t, `select sum(n) from counters`); n != writers || runs.Load() < 2*writers-1 {
		t.Errorf("counted %d after %d runs", n, runs.Load())
	}
	if n := s.ask(t, `select count(*) from lines`); n != writers*9 {
		t.Errorf("%d lines", n)
	}
}

func TestRetryDeadlock(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, counters)
	var met, wg sync.WaitGroup
	met.Add(2)
	var runs atomic.Int64
	for _, ids := range [][2]ID{{1, 2}, {2, 1}} {
		wg.Go(func() {
			first := true
			err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
				runs.Add(1)
				for i, id := range ids {
					if _, err := tx.Exec(t.Context(), `update counters set n = n + 1 where id = $1`, id); err != nil {
						return fmt.Errorf("update %d: %w", id, err)
					}
					if first && i == 0 {
						first = false
						met.Done()
						met.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := s.ask(t, `select sum(n) from counters`); n != 4 || runs.Load() != 3 {
		t.Errorf("counted %d after %d runs, want 4 after 3", n, runs.Load())
	}
}

// script is a database whose transactions end as written.
type script struct {
	commits []error
	begun   int
	ended   []string
	at      []time.Time
	commit  func() // called within COMMIT
}

type scriptTx struct {
	pgx.Tx
	s   *script
	err error
}

func (s *script) BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error) {
	tx := &scriptTx{s: s}
	if s.begun < len(s.commits) {
		tx.err = s.commits[s.begun]
	}
	s.begun++
	s.at = append(s.at, time.Now())
	return tx, nil
}

func (tx *scriptTx) Conn() *pgx.Conn { return nil }

func (tx *scriptTx) Commit(context.Context) error {
	tx.s.ended = append(tx.s.ended, "commit")
	if tx.s.commit != nil {
		tx.s.commit()
	}
	return tx.err
}

func (tx *scriptTx) Rollback(context.Context) error {
	tx.s.ended = append(tx.s.ended, "rollback")
	return nil
}

func TestRetryPauses(t *testing.T) {
	conflict := &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	other := &pgconn.PgError{Severity: "ERROR", Code: "23505"}
	fine := func(pgx.Tx) error { return nil }
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := &script{commits: slices.Repeat([]error{conflict}, 9)}
		err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{Attempts: 8, Backoff: 8 * time.Millisecond, MaxBackoff: 50 * time.Millisecond}, fine)
		if !errors.Is(err, conflict) || s.begun != 8 || !strings.Contains(err.Error(), "attempt 8 of 8") {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		for i, ms := range []int{8, 16, 32, 50, 50, 50, 50} {
			most := time.Duration(ms) * time.Millisecond
			if d := s.at[i+1].Sub(s.at[i]); d > most || d < most/2 {
				t.Errorf("pause %d: %v, want %v to %v", i, d, most/2, most)
			}
		}
		s = &script{commits: []error{conflict, conflict, conflict, conflict, conflict}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); err == nil || s.begun != 5 {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		if d := s.at[1].Sub(s.at[0]); d > 10*time.Millisecond || d < 5*time.Millisecond {
			t.Errorf("the first pause is %v", d)
		}
		s = &script{commits: []error{conflict}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{Backoff: time.Hour, MaxBackoff: time.Second}, fine); err != nil || s.at[1].Sub(s.at[0]) > time.Second {
			t.Errorf("a pause of %v, %v", s.at[1].Sub(s.at[0]), err)
		}
		pauses := map[time.Duration]bool{}
		for range 20 {
			s = &script{commits: []error{conflict}}
			if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); err != nil {
				t.Error(err)
			}
			pauses[s.at[1].Sub(s.at[0])] = true
		}
		if len(pauses) < 10 {
			t.Errorf("20 pauses have %d lengths", len(pauses))
		}
		s = &script{commits: []error{conflict, &pgconn.PgError{Severity: "ERROR", Code: "40P01"}}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); err != nil || s.begun != 3 {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		s = &script{commits: []error{other}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); !errors.Is(err, other) || errors.Is(err, pgxtype.ErrOutcomeUnknown) || s.begun != 1 {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		// Errors of COMMIT, and whether they leave its outcome open.
		for _, c := range []struct {
			err     error
			unknown bool
		}{
			{io.ErrUnexpectedEOF, true}, {context.DeadlineExceeded, true},
			{&pgconn.PgError{Severity: "FATAL", Code: "40001"}, true}, {&pgconn.PgError{Severity: "FATALE", SeverityUnlocalized: "FATAL", Code: "57P01"}, true},
			{&pgconn.PgError{Severity: "ERROR", Code: "40003"}, true}, {&pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: "23503"}, false},
			{pgx.ErrTxCommitRollback, false}, {pgx.ErrTxClosed, false},
		} {
			s = &script{commits: []error{c.err}}
			if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); !errors.Is(err, c.err) || errors.Is(err, pgxtype.ErrOutcomeUnknown) != c.unknown || s.begun != 1 {
				t.Errorf("%v: %v after %d attempts", c.err, err, s.begun)
			}
		}
		// In f the same codes count, and the transaction is rolled back, not committed.
		s = &script{}
		n := 0
		err = pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, func(pgx.Tx) error {
			if n++; n < 3 {
				return fmt.Errorf("in f: %w", conflict)
			}
			return nil
		})
		if got := strings.Join(s.ended, " "); err != nil || got != "rollback rollback commit" {
			t.Errorf("%s, %v", got, err)
		}
		// A context that ends in a pause.
		s = &script{commits: []error{conflict, conflict, conflict}}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		began := time.Now()
		err = pgxtype.Retry(short, s, pgxtype.RetryConfig{Backoff: time.Hour, MaxBackoff: time.Hour}, fine)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, conflict) || s.begun != 1 || time.Since(began) != time.Second {
			t.Errorf("%v after %v, %d attempts", err, time.Since(began), s.begun)
		}
		// And one that ended in f: nothing is committed.
		s = &script{}
		short, cancel = context.WithCancel(ctx)
		if err := pgxtype.Retry(short, s, pgxtype.RetryConfig{}, func(pgx.Tx) error { cancel(); return nil }); !errors.Is(err, context.Canceled) || strings.Join(s.ended, " ") != "rollback" {
			t.Errorf("%v, %v", s.ended, err)
		}
		// A context that ends within COMMIT: Committed is asked all the same.
		for _, there := range []bool{true, false} {
			s = &script{commits: []error{context.Canceled}}
			interrupted, cancel := context.WithCancel(ctx)
			s.commit = cancel
			err := pgxtype.Retry(interrupted, s, pgxtype.RetryConfig{Committed: func(ctx context.Context) (bool, error) {
				deadline, ok := ctx.Deadline()
				if left := time.Until(deadline); ctx.Err() != nil || !ok || left != 10*time.Second {
					t.Errorf("asked with %v, %v left", ctx.Err(), left)
				}
				return there, nil
			}}, fine)
			if there && err != nil || !there && (!errors.Is(err, pgxtype.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled)) || s.begun != 1 {
				t.Errorf("cancelled in COMMIT, there=%v: %v", there, err)
			}
		}
		// Ended by f itself: said so.
		s = &script{commits: []error{pgx.ErrTxClosed}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); err == nil || !strings.Contains(err.Error(), "f has committed or rolled back the transaction itself") || s.begun != 1 {
			t.Errorf("ended by f: %v", err)
		}
		s = &script{}
		func() {
			defer func() {
				if v := recover(); v != "boom" || strings.Join(s.ended, " ") != "rollback" {
					t.Errorf("recovered %v, %v", v, s.ended)
				}
			}()
			_ = pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, func(pgx.Tx) error { panic("boom") })
		}()
	})
}

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
	masters := pgxtype.Masters(pgx.Identifier{"items"}, columns, values)
	lists := pgxtype.Details(pgx.Identifier{"items"}, columns, func(i *item) []item { return []item{*i} }, values)
	seqs := pgxtype.DetailSeq(pgx.Identifier{"items"}, columns, func(i *item) iter.Seq2[item, error] { return pgxtype.Seq(slices.Values([]item{*i})) }, values)
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
			stop  int // the attempt ends after that many masters; 0: after Load
		}{
			{"a chunk sent", plain, masters, 3}, {"savepoint", savepoint, masters, 3},
			{"no chunk sent", plain, masters, 1}, {"savepoint, no chunk sent", savepoint, masters, 1}, {"all sent", plain, masters, 0}, {"savepoint, all sent", savepoint, masters, 0},
			{"a panic", recovers, masters, 3}, {"a panic, no chunk sent", recovers, masters, 1}, {"a panic, no chunk of lists sent", recovers, lists, 1},
			{"lists", plain, lists, 1}, {"lists, all sent", plain, lists, 0},
			{"sequences", plain, seqs, 3}, {"sequences, no chunk sent", plain, seqs, 1}, {"sequences, all sent", plain, seqs, 0},
		} {
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
			if err == nil || !strings.Contains(err.Error(), "must give the same rows") || runs != 2 {
				t.Errorf("%s, %s: %v after %d runs", name, tt.name, err, runs)
			}
			if n := s.ask(t, `select count(*) from items`); n != 0 {
				t.Errorf("%s, %s: %d of 6 rows, and no error", name, tt.name, n)
			}
		}
		// Masters that come again, with details that do not.
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
					pgxtype.Masters(pgx.Identifier{"heads"}, []string{"id"}, func(i *int, row []any) []any { return append(row, i) }),
					pgxtype.DetailSeq(pgx.Identifier{"items"}, columns, func(i *int) iter.Seq2[item, error] { return dry[*i] }, values),
				}})
				if err == nil && runs == 1 {
					return conflict
				}
				return err
			})
			rows := s.ask(t, `select count(*) from items`)
			if stop == 0 && (err != nil || rows != 6) || stop > 0 && (err == nil || !strings.Contains(err.Error(), `"items"`) || !strings.Contains(err.Error(), "must give the same rows") || rows != 0) {
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
						pgxtype.Masters(pgx.Identifier{"docs"}, []string{"id", column}, func(id *ID, row []any) []any { return append(row, id, value(runs)) }),
					}})
					return err
				})
				if err == nil && runs == 1 {
					return conflict
				}
				return err
			})
			rows := s.ask(t, `select count(*) from docs`)
			if column == "doc" && (err != nil || rows != 3) || column == "at" && (err == nil || !strings.Contains(err.Error(), `column "at": the first row is not`) || rows != 0) {
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
			masters func(attempt int) iter.Seq2[order, error]
			fails   bool
		}{
			"the same":    {func(int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders)) }, false},
			"none":        {func(int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders[:0])) }, false},
			"other keys":  {func(attempt int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders[3*attempt:])) }, true},
			"none later":  {func(attempt int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders[:30-30*attempt])) }, true},
			"none before": {func(attempt int) iter.Seq2[order, error] { return pgxtype.Seq(slices.Values(orders[:30*attempt])) }, true},
		} {
			if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
				t.Fatal(err)
			}
			attempt := -1
			err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
				attempt++
				for _, cfg := range []pgxtype.LoadConfig[order]{{Tables: shopConfig(method).Tables[:1], Method: method}, {Tables: shopConfig(method).Tables[1:], Method: method}} {
					if _, err := pgxtype.Load(t.Context(), tx, tt.masters(attempt), cfg); err != nil {
						return err
					}
				}
				if attempt == 0 {
					return conflict
				}
				return nil
			})
			if tt.fails != (err != nil) || tt.fails && !strings.Contains(err.Error(), "must give the same rows") || attempt != 1 {
				t.Errorf("%s, %s: %v after %d", name, what, err, attempt)
			}
			if n := s.ask(t, `select count(*) from orders`); tt.fails && n != 0 || what == "the same" && n != 30 {
				t.Errorf("%s, %s: %d orders", name, what, n)
			}
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
		if err == nil || !strings.Contains(err.Error(), `column "id": the first row is not`) || attempt != 2 {
			t.Errorf("%s, in part: %v", name, err)
		}
		s.empty(t)
	}
}

func TestRetryConfig(t *testing.T) {
	err := pgxtype.Retry(t.Context(), nil, pgxtype.RetryConfig{Attempts: -1, Backoff: -2, MaxBackoff: -3}, nil)
	for _, want := range []string{"pgxtype: Retry: ", "db is nil", "f is nil", "Attempts -1", "Backoff -2ns", "MaxBackoff -3ns"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell %q", err, want)
		}
	}
	for _, db := range []pgxtype.TxBeginner{(*pgx.Conn)(nil), (*pgxpool.Pool)(nil)} {
		if err := pgxtype.Retry(t.Context(), db, pgxtype.RetryConfig{}, func(pgx.Tx) error { return nil }); err == nil || !strings.Contains(err.Error(), "db is nil") {
			t.Errorf("%T: %v", db, err)
		}
	}
}
