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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

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
	t.Cleanup(func() { end(t, pool) })
	return pool
}

// The connection breaks at COMMIT, before or after the server has had it. The
// caller gets ErrOutcomeUnknown; its keys show the outcome, and nothing is written twice.
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
			if l.Parents == 6 {
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
