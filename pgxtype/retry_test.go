package pgxtype_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
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

// A breaker is a proxy before a server that can break at COMMIT.
type breaker struct {
	addr  string
	cut   atomic.Bool // break at the next COMMIT
	after bool        // the server has had it by then
	cuts  atomic.Int64
}

func newBreaker(t *testing.T, server string, after bool) *breaker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &breaker{addr: l.Addr().String(), after: after}
	var wg sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { w.serve(client, server) })
		}
	})
	return w
}

func (w *breaker) serve(client net.Conn, addr string) {
	defer client.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer server.Close()
	broken := make(chan struct{})
	go func() { // the server's answers, unless the wire is broken
		buf := make([]byte, 32<<10)
		for {
			n, err := server.Read(buf)
			select {
			case <-broken:
				// The answer to COMMIT. Read, so that it is certain, and not passed on.
				_ = client.Close()
				return
			default:
			}
			if n > 0 {
				_, _ = client.Write(buf[:n])
			}
			if err != nil {
				_ = client.Close()
				return
			}
		}
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := client.Read(buf)
		if bytes.Contains(buf[:n], []byte("commit")) && w.cut.CompareAndSwap(true, false) {
			w.cuts.Add(1)
			close(broken)
			if !w.after {
				return
			}
			_, _ = server.Write(buf[:n])
			_, _ = io.Copy(io.Discard, client)
			return
		}
		if n > 0 {
			_, _ = server.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// through is the shop's pool by way of the wire.
func (s *shop) through(t *testing.T, w *breaker) *pgxpool.Pool {
	t.Helper()
	config := s.pool.Config()
	host, port, err := net.SplitHostPort(w.addr)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Host = host
	if _, err := fmt.Sscan(port, &config.ConnConfig.Port); err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.TLSConfig, config.ConnConfig.Fallbacks = nil, nil
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// The connection breaks at COMMIT, before or after the server has had it. The
// caller is told that nobody knows; its keys settle it, and nothing is there twice.
func TestOutcomeUnknown(t *testing.T) {
	for _, arrived := range []bool{true, false} {
		t.Run(fmt.Sprintf("arrived=%v", arrived), func(t *testing.T) {
			server := testserver.Postgres(t)
			s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
			w := newBreaker(t, server.Addr, arrived)
			pool := s.through(t, w)
			orders := makeOrders(3, 3)
			load := func(db pgxtype.Beginner) error {
				_, err := pgxtype.Load(t.Context(), db, pgxtype.Seq(slices.Values(orders)), shopConfig(pgxtype.Copy))
				return err
			}
			w.cut.Store(true)
			if err := load(pool); !errors.Is(err, pgxtype.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "COMMIT was sent") {
				t.Fatalf("Load: %v", err)
			}
			there := func() bool { return s.ask(t, `select count(*) from orders where id = $1`, orders[0].ID) == 1 }
			if there() != arrived {
				t.Errorf("the rows are there: %v", there())
			}
			// The same rows again: refused, or written now.
			if err := load(pool); arrived == (err == nil) || arrived && !strings.Contains(err.Error(), "23505") {
				t.Errorf("again: %v", err)
			}
			if n := s.ask(t, `select count(*) from lines`); n != 9 {
				t.Errorf("%d lines", n)
			}
			if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
				t.Fatal(err)
			}

			run := func(cfg pgxtype.RetryConfig) (runs int, err error) {
				w.cut.Store(true)
				err = pgxtype.Retry(t.Context(), pool, cfg, func(tx pgx.Tx) error { runs++; return load(tx) })
				return runs, err
			}
			if runs, err := run(pgxtype.RetryConfig{}); !errors.Is(err, pgxtype.ErrOutcomeUnknown) || runs != 1 {
				t.Errorf("Retry: %d runs, %v", runs, err)
			}
			if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
				t.Fatal(err)
			}
			asked := 0
			runs, err := run(pgxtype.RetryConfig{Committed: func(context.Context) (bool, error) { asked++; return there(), nil }})
			if want := map[bool]int{true: 1, false: 2}[arrived]; err != nil || runs != want || asked != 1 {
				t.Errorf("Retry with Committed: %d runs, asked %d times, %v", runs, asked, err)
			}
			if n := s.ask(t, `select count(*) from lines`); n != 9 {
				t.Errorf("%d lines", n)
			}
			if !arrived {
				return
			}
			// The first answer comes too early: the keys refuse the second attempt, and
			// the second answer is right.
			if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
				t.Fatal(err)
			}
			asked = 0
			runs, err = run(pgxtype.RetryConfig{Committed: func(context.Context) (bool, error) { asked++; return asked > 1, nil }})
			if err != nil || runs != 2 || asked != 2 {
				t.Errorf("an early no: %d runs, asked %d times, %v", runs, asked, err)
			}
			// And if the answer stays no, both errors are told.
			runs, err = run(pgxtype.RetryConfig{Committed: func(context.Context) (bool, error) { return false, nil }})
			var pg *pgconn.PgError
			if runs != 1 || !errors.As(err, &pg) || pg.Code != "23505" {
				t.Errorf("rows of somebody else: %d runs, %v", runs, err)
			}
			if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
				t.Fatal(err)
			}
			_, err = run(pgxtype.RetryConfig{Committed: func(context.Context) (bool, error) { return false, nil }})
			if !errors.Is(err, pgxtype.ErrOutcomeUnknown) || !errors.As(err, &pg) || pg.Code != "23505" {
				t.Errorf("a lasting no: %v", err)
			}
			if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
				t.Fatal(err)
			}
			_, err = run(pgxtype.RetryConfig{Committed: func(context.Context) (bool, error) { return false, errSource }})
			if !errors.Is(err, pgxtype.ErrOutcomeUnknown) || !errors.Is(err, errSource) {
				t.Errorf("no answer: %v", err)
			}
			if w.cuts.Load() != 6 {
				t.Errorf("the wire broke %d times", w.cuts.Load())
			}
		})
	}
}

// A backend that is terminated within COMMIT says so, but not what became of it.
func TestTerminatedAtCommit(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables+`
	create function die() returns trigger language plpgsql as 'begin perform pg_terminate_backend(pg_backend_pid()); return null; end';
	create constraint trigger die after insert on orders deferrable initially deferred for each row execute function die()`)
	_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(makeOrders(3, 3))), shopConfig(pgxtype.Copy))
	if !errors.Is(err, pgxtype.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "57P01" {
		t.Errorf("%v", err)
	}
	s.empty(t)
}

// A session that ends before COMMIT has a known outcome: nothing.
func TestTerminatedBeforeCommit(t *testing.T) {
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
		cfg := shopConfig(method)
		cfg.ChunkRows = 10
		cfg.Progress = func(l pgxtype.Loaded) {
			if l.Masters == 6 {
				s.ask(t, `select count(pg_terminate_backend(pid)) from pg_stat_activity where state = 'idle in transaction' and query like '%' || $1 || '%' or
					pid in (select pid from pg_locks where relation = $2::regclass) and pid <> pg_backend_pid()`, s.schema, s.schema+".lines")
			}
		}
		_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(makeOrders(30, 3))), cfg)
		if err == nil || errors.Is(err, pgxtype.ErrOutcomeUnknown) {
			t.Errorf("%s: %v", name, err)
		}
		s.empty(t)
	}
}

// script is a database whose transactions end as written.
type script struct {
	commits []error
	begun   int
	ended   []string
	at      []time.Time
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

func TestRetryConfig(t *testing.T) {
	err := pgxtype.Retry(t.Context(), nil, pgxtype.RetryConfig{Attempts: -1, Backoff: -2, MaxBackoff: -3}, nil)
	for _, want := range []string{"pgxtype: Retry: ", "db is nil", "f is nil", "Attempts -1", "Backoff -2ns", "MaxBackoff -3ns"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell %q", err, want)
		}
	}
}
