package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A fuse lets so many messages through. Then the machine of the client is gone: the server gets nothing
// any more, not even the end of a connection.
type fuse struct {
	t    *testing.T
	left atomic.Int64
}

func (f *fuse) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	return fusedConn{conn, f}, nil
}

type fusedConn struct {
	net.Conn
	fuse *fuse
}

func (c fusedConn) Write(b []byte) (int, error) {
	if c.fuse.left.Add(-1) < 0 {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c fusedConn) Close() error { return c.SetDeadline(time.Now()) }

func (f *fuse) open(t *testing.T, e engine) *sql.DB {
	t.Helper()
	var db *sql.DB
	if e.dialect == ddl.Postgres {
		cfg, err := pgx.ParseConfig(e.dsn)
		must(t, err)
		cfg.DialFunc = f.dial
		db = stdlib.OpenDB(*cfg)
	} else {
		cfg := e.mysql(t)
		cfg.DialFunc = f.dial
		connector, err := mysqldriver.NewConnector(cfg)
		must(t, err)
		db = sql.OpenDB(connector)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// A client that vanishes after any of its messages leaves no lock: another one renews, and counts, at
// once.
func TestClientThatVanishes(t *testing.T) {
	all := map[string]engine{"postgres": newPostgres(t)}
	for i, server := range testserver.MySQLs(t) {
		for name, params := range map[string]map[string]string{"": nil, "autocommit off": {"autocommit": "0"}} {
			e := newMySQL(t, server.DSN)
			cfg := e.mysql(t)
			cfg.Params = params
			e.dsn = cfg.FormatDSN()
			all[fmt.Sprint("mysql ", i, " ", name)] = e
		}
	}
	for name, e := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits, mostly
			alive := e.store(t)
			c := driver.Claim{
				Namespace: "default", Layout: "l", WorkerIDs: 8, Preferred: -1, Exclude: -1, ClaimID: "a", FenceWindow: 600_000,
				Now: time.Now().UnixMilli(),
			}
			l, err := alive.Claim(t.Context(), c)
			must(t, err)
			r := driver.Renewal{Namespace: "default", Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: "a", FenceWindow: 600_000}
			_, err = alive.Reserve(t.Context(), "starts", 1)
			must(t, err)
			for what, request := range map[string]func(context.Context, *sqlstore.Store) error{
				"renewal": func(ctx context.Context, s *sqlstore.Store) error { _, err := s.Renew(ctx, r); return err },
				"count":   func(ctx context.Context, s *sqlstore.Store) error { _, err := s.Reserve(ctx, "starts", 1); return err },
				"claim": func(ctx context.Context, s *sqlstore.Store) error {
					again := c
					again.ClaimID, again.Preferred = "b", (l.Worker+1)%8
					_, err := s.Claim(ctx, again)
					return err
				},
			} {
				messages := int64(1)
				for ; ; messages++ {
					f := &fuse{t: t}
					f.left.Store(messages)
					ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
					err := request(ctx, engines.MustNew(sqlstore.New(f.open(t, e), lossy)))
					cancel()
					if f.left.Load() >= 0 {
						if err == nil {
							break
						}
						messages-- // the machine is busy
					}
					if _, err := alive.Renew(t.Context(), r); err != nil {
						t.Fatalf("after message %d of a %s: %v", messages, what, err)
					}
					if _, err := alive.Reserve(t.Context(), "starts", 1); err != nil {
						t.Fatalf("after message %d of a %s: %v", messages, what, err)
					}
				}
				t.Logf("a %s of a new client is %d messages", what, messages)
				if messages < 4 {
					t.Error("it proves nothing")
				}
			}
		})
	}
}

// What keeps every request waiting, such as the lock of a backup, or a forgotten transaction, does
// not pile up requests in the server, and everything continues when it ends.
func TestWaitingThreads(t *testing.T) {
	for name, lock := range map[string]string{
		"backup": "FLUSH TABLES WITH READ LOCK", "forgotten transaction": "SELECT * FROM snow_lease FOR UPDATE",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits, mostly
			const programs = 12
			e := newMySQL(t, testserver.NewMariaDB(t).DSN)
			gens := together(t, programs, func(int) (*worker.Generator, error) {
				return sqlstore.Open(t.Context(), e.open(t), worker.Config{FenceWindow: 9 * time.Second, ClaimWait: patience})
			})
			admin := e.open(t)
			locker, err := admin.Conn(t.Context())
			must(t, err)
			_, err = locker.ExecContext(t.Context(), "BEGIN")
			must(t, err)
			_, err = locker.ExecContext(t.Context(), lock)
			must(t, err)
			most, waited := 0, false
			for began := time.Now(); time.Since(began) < 15*time.Second; time.Sleep(50 * time.Millisecond) {
				var n int
				must(t, admin.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE command <> 'Sleep' AND id <> CONNECTION_ID() AND info LIKE '%snow_%'").Scan(&n))
				most, waited = max(most, n), waited || n > 0
			}
			// The last wait of a claim may outlast its client by a second. In MySQL, the first one does by a minute.
			limit, version := 2*programs, ""
			must(t, admin.QueryRow("SELECT version()").Scan(&version))
			if !strings.Contains(version, "MariaDB") {
				limit = 3 * programs
			}
			if most > limit || !waited {
				t.Errorf("%d programs have %d requests in the server", programs, most)
			}
			t.Logf("%d programs had at most %d requests in the server", programs, most)
			_, err = locker.ExecContext(t.Context(), "UNLOCK TABLES")
			must(t, err)
			_, err = locker.ExecContext(t.Context(), "ROLLBACK")
			must(t, err)
			await(t, "lease for each", func() bool {
				for _, gen := range gens {
					if _, err := gen.Next(t.Context()); err != nil || gen.Failing() != nil {
						return false
					}
				}
				return true
			})
			giveBack(t, gens, programs)
		})
	}
}

// A transaction that keeps the record of a free worker ID locked does not stop Open. One that keeps
// the record of a holder makes that move to another worker ID, before its ids end.
func TestLockedRecords(t *testing.T) {
	onServers(t, func(t *testing.T, e engine) {
		t.Parallel()        // it waits, mostly
		store := e.store(t) // one for all polls: each store has its own connections
		must(t, acquire(t, store, worker.Config{FenceWindow: 15 * time.Second, ClaimWait: patience}))
		locker := open(t, e.driver, e.plain)
		lock := func(workerID int64) *sql.Tx {
			t.Helper()
			tx, err := locker.BeginTx(t.Context(), nil)
			must(t, err)
			var n int64
			must(t, tx.QueryRow(fmt.Sprintf("SELECT worker_id FROM snow_lease WHERE namespace = 'default' AND worker_id = %d FOR UPDATE", workerID)).Scan(&n))
			return tx
		}
		tx := lock(0)
		gen, err := worker.Open(t.Context(), e.store(t), worker.Config{FenceWindow: 15 * time.Second, ClaimWait: patience})
		must(t, err)
		defer gen.Close(context.Background())
		first := gen.Worker()
		if first == 0 {
			t.Error("the record is not locked: it proves nothing")
		}
		await(t, "ErrLocked", func() bool { // on a busy machine, one attempt may get no connection in time
			cfg := worker.Config{FenceWindow: 15 * time.Second, Preferred: ref(int64(0)), RequirePreferred: true, ClaimWait: -1}
			if _, err = worker.Open(t.Context(), store, cfg); err == nil {
				t.Fatal("a worker ID whose record is locked was leased")
			}
			return errors.Is(err, driver.ErrLocked)
		})
		must(t, tx.Rollback())

		tx = lock(first)
		await(t, "another worker ID", func() bool {
			if _, err := gen.Next(t.Context()); errors.Is(err, core.ErrFenced) {
				t.Fatalf("%v: %+v", err, gen.Stats())
			}
			return gen.Worker() != first
		})
		must(t, tx.Rollback())
		await(t, "release", func() bool {
			st, err := store.List(t.Context(), "default")
			must(t, err)
			for _, rec := range st.Records {
				if rec.Worker == first {
					return rec.Status == driver.Released
				}
			}
			return false
		})
		if st := gen.Stats(); st.Losses > 0 || st.Claims != 2 || st.Failing != nil {
			t.Errorf("%+v", st)
		}
		must(t, gen.Close(t.Context()))
	})
}

// Close says at once that the pool was closed before.
func TestCloseAfterPool(t *testing.T) {
	opened := map[string]func(t *testing.T) (*worker.Generator, func()){
		"pgxpool": func(t *testing.T) (*worker.Generator, func()) {
			pool := newPostgres(t).pgx(t, 2)
			return engines.MustNew(pgxstore.Open(t.Context(), pool, worker.Config{})), pool.Close
		},
		"go-redis": func(t *testing.T) (*worker.Generator, func()) {
			c := redis.NewClient(&redis.Options{Addr: testserver.NewRedis(t).Addr})
			return engines.MustNew(redisstore.Open(t.Context(), evaler(c, false), worker.Config{})), func() { _ = c.Close() }
		},
	}
	pq := newPostgres(t)
	pq.driver = "postgres"
	for _, e := range []engine{newSQLite(t), newPostgres(t), pq, newMySQL(t, testserver.MySQLs(t)[0].DSN)} {
		opened[e.driver] = func(t *testing.T) (*worker.Generator, func()) {
			db := e.open(t)
			return engines.MustNew(sqlstore.Open(t.Context(), db, worker.Config{})), func() { _ = db.Close() }
		}
	}
	for name, open := range opened {
		t.Run(name, func(t *testing.T) {
			gen, closePool := open(t)
			closePool()
			began := time.Now()
			err := gen.Close(context.Background())
			if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "closed") || took > 2*time.Second { // ClaimWait is 5s
				t.Errorf("after %v: %v", took, err)
			}
		})
	}
}

// The error says how many worker IDs there are, and that another layout has more.
func TestAllLeased(t *testing.T) {
	store := newSQLite(t).store(t)
	small := core.Layout{TimeBits: 41, WorkerBits: 1, SequenceBits: 12}
	giveBack(t, hold(t, store, 2, 1, worker.Config{Layout: small, ClaimWait: patience}, func(int, time.Duration) {
	}), 2)
	gens := hold(t, store, 2, 1, worker.Config{Layout: small, ClaimWait: patience}, func(int, time.Duration) {})
	_, err := worker.Open(t.Context(), store, worker.Config{Layout: small, ClaimWait: -1})
	if !errors.Is(err, worker.ErrNoWorkerID) || !strings.Contains(err.Error(), "all 2 worker IDs") || !strings.Contains(err.Error(), "WorkerBits") {
		t.Error(err)
	}
	giveBack(t, gens, 2)
}
