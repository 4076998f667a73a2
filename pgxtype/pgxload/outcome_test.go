package pgxload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// breaker is a connection that breaks at the next COMMIT, before or after the server has had it.
type breaker struct {
	net.Conn
	cut     *atomic.Bool // at the next COMMIT
	arrives bool
	broken  atomic.Bool
}

func (c *breaker) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("commit")) && c.cut.CompareAndSwap(true, false) {
		c.broken.Store(true)
		if !c.arrives {
			return len(b), c.Close()
		}
	}
	return c.Conn.Write(b)
}

// Read drops the answer to COMMIT. It waits for it, so that the outcome is certain.
func (c *breaker) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.broken.Load() {
		_ = c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// breaking is the shop's pool with connections that break.
func (s *shop) breaking(t *testing.T, cut *atomic.Bool, arrives bool) *pgxpool.Pool {
	t.Helper()
	config := s.pool.Config()
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &breaker{Conn: conn, cut: cut, arrives: arrives}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(func() { end(t, pool) })
	return pool
}

// The connection breaks at COMMIT, before or after the server has had it. The
// caller gets ErrOutcomeUnknown; its keys show the outcome, and nothing is written twice.
func TestOutcomeUnknown(t *testing.T) {
	write := writeOrders(makeOrders(3, 3))
	load := func(db pgxload.Beginner) error {
		_, err := pgxload.Load(t.Context(), db, write)
		return err
	}
	duplicate := func(err error) bool {
		var pg *pgconn.PgError
		return errors.As(err, &pg) && pg.Code == "23505"
	}
	for _, arrived := range []bool{true, false} {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
		var cut atomic.Bool
		pool := s.breaking(t, &cut, arrived)
		there := func() bool { return s.ask(t, `select count(*) from lines`) == 9 }
		cut.Store(true)
		if loaded, err := pgxload.Load(t.Context(), pool, write); !errors.Is(err, sqltype.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "the outcome of COMMIT is unknown") || loaded.Rows != 12 || there() != arrived {
			t.Errorf("arrived=%v: %+v, %v", arrived, loaded, err)
		}
		// The same rows again: refused, or written now.
		if err := load(pool); duplicate(err) != arrived || (err != nil) != arrived || !there() {
			t.Errorf("arrived=%v, again: %v", arrived, err)
		}
		for _, asks := range []bool{false, true} {
			s.exec(t, `truncate orders, lines`)
			asked, cfg := 0, pgxload.RetryConfig{}
			if asks {
				cfg.Committed = func(context.Context) (bool, error) { asked++; return there(), nil }
			}
			cut.Store(true)
			runs, err := retry(t.Context(), pool, cfg, func(tx pgx.Tx, _ int) error { return load(tx) })
			if again := asks && !arrived; (runs == 2) != again || (asked == 1) != asks || errors.Is(err, sqltype.ErrOutcomeUnknown) == asks || (err == nil) != asks || there() != (asks || arrived) {
				t.Errorf("arrived=%v, Retry: %d runs, asked %d times, %v", arrived, runs, asked, err)
			}
		}
	}
}

// A backend that is terminated within COMMIT says so, but not what became of it. Before COMMIT, the
// outcome is known: nothing.
func TestTerminated(t *testing.T) {
	for name, method := range methods {
		for _, within := range []bool{true, false} {
			s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
			if within {
				s.exec(t, `create function die() returns trigger language plpgsql as 'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`,
					`create constraint trigger die after insert on orders deferrable initially deferred for each row execute function die()`)
			}
			progress := func(l pgxload.Loaded) {
				if !within && l.Rows > 20 && l.Rows < 100 {
					s.ask(t, `select count(pg_terminate_backend(pid)) from pg_locks where relation = $1::regclass and pid <> pg_backend_pid()`, s.schema+".lines")
				}
			}
			_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: 1000, Progress: progress}, writeOrders(makeOrders(30, 3)))
			var pg *pgconn.PgError
			if err == nil || errors.Is(err, sqltype.ErrOutcomeUnknown) != within || within && (!errors.As(err, &pg) || pg.Code != "57P01") {
				t.Errorf("%s, within=%v: %v", name, within, err)
			}
			s.empty(t)
		}
	}
}
