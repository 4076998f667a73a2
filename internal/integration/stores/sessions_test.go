package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A store does not depend on a session: each statement may run in another one, as behind a
// pooler in transaction mode.
func TestASessionForEachStatement(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		db := e.open(t)
		db.SetMaxIdleConns(-1)
		store := mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
		r := driver.Request{
			Namespace: "x", Layout: "l", WorkerIDs: 1, Preferred: -1, Exclude: -1, ClaimID: "first", Owner: "o",
			Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 3_600_000, MaxSkew: 1 << 40, MaxLead: 1 << 40,
		}
		first, err := store.Claim(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		until := first.Fence + 5000
		if err := store.Renew(t.Context(), driver.Renewal{Namespace: "x", Worker: first.Worker, FencingToken: first.FencingToken, ClaimID: "first", Fence: until, TTL: r.TTL}); err != nil {
			t.Error(err)
		}
		r.ClaimID = "second"
		if _, err := store.Claim(t.Context(), r); !errors.Is(err, worker.ErrNoWorkerID) {
			t.Errorf("a number that is held: %v", err)
		}
		if err := store.Release(t.Context(), driver.Return{Namespace: "x", Worker: first.Worker, FencingToken: first.FencingToken, ClaimID: "first", Fence: until - 1}); err != nil {
			t.Error(err)
		}
		second, err := store.Claim(t.Context(), r)
		if err != nil || second.From != until-1 || second.FencingToken != first.FencingToken+1 {
			t.Errorf("released from %d on: %+v, %v", until-1, second, err)
		}
		if rows, err := store.List(t.Context(), "x"); err != nil || len(rows) != 1 || rows[0].ClaimID != "second" {
			t.Errorf("%+v, %v", rows, err)
		}
		for want := range int64(3) {
			if n, err := store.Count(t.Context(), "starts"); err != nil || n != want {
				t.Errorf("%d, %v", n, err)
			}
		}
	})
}

// pools are a database for each driver.
func pools(t *testing.T) map[string]func() *sql.DB {
	t.Helper()
	all := map[string]func() *sql.DB{}
	for name, by := range map[string]string{"pgx": "pgx", "lib/pq": "postgres"} {
		dsn := inDatabase(t, testserver.Postgres(t).DSN)
		all[name] = func() *sql.DB { return open(t, by, dsn) }
	}
	for i, server := range testserver.MySQLs(t) {
		cfg, err := mysql.ParseDSN(server.DSN)
		if err != nil {
			t.Fatal(err)
		}
		cfg.DBName = create(t, open(t, "mysql", server.DSN), "")
		all[fmt.Sprint("mysql ", i)] = func() *sql.DB { return open(t, "mysql", cfg.FormatDSN()) }
	}
	file := filepath.Join(t.TempDir(), "test.sqlite")
	all["sqlite"] = func() *sql.DB {
		return open(t, "sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(60000)")
	}
	return all
}

// A transaction that somebody has left open on the only connection of a pool would undo a claim, a
// renewal or a count when it is rolled back. The store refuses, or uses a transaction of its own.
func TestOpenTransaction(t *testing.T) {
	for name, pool := range pools(t) {
		t.Run(name, func(t *testing.T) {
			cfg := sqlstore.Config{AllowDataLoss: true}
			other := mustNew(sqlstore.New(pool(), cfg))
			if _, err := other.Count(t.Context(), "starts"); err != nil { // makes the table
				t.Fatal(err)
			}
			if _, err := other.List(t.Context(), "default"); err != nil {
				t.Fatal(err)
			}
			db := pool()
			db.SetMaxOpenConns(1)
			store := mustNew(sqlstore.New(db, cfg))
			r := driver.Request{
				Namespace: "default", Layout: "l", WorkerIDs: 8, Preferred: 3, Exclude: -1, ClaimID: "first", Owner: "o",
				Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 3_600_000, MaxSkew: 1 << 40, MaxLead: 1 << 40,
			}
			// acknowledged runs a write in a session with an open transaction, which is rolled back, and
			// reports whether it was acknowledged.
			acknowledged := func(write func() error) bool {
				t.Helper()
				if _, err := db.Exec("BEGIN"); err != nil {
					t.Fatal(err)
				}
				err := write()
				if _, rolledBack := db.Exec("ROLLBACK"); rolledBack != nil && name != "sqlite" {
					t.Fatal(rolledBack)
				}
				if err != nil && !strings.Contains(err.Error(), "left open") {
					t.Error(err)
				}
				return err == nil
			}
			record := func() driver.Record {
				t.Helper()
				rows, err := other.List(t.Context(), r.Namespace)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					if row.Worker == r.Preferred {
						return row
					}
				}
				return driver.Record{}
			}
			for _, claim := range []string{"of a new namespace", "first"} {
				r.ClaimID = claim
				if acknowledged(func() error { _, err := store.Claim(t.Context(), r); return err }) && record().ClaimID != claim {
					t.Errorf("a claim %q was acknowledged, and is gone: %+v", claim, record())
				}
				if row := record(); row.ClaimID != "" {
					if err := other.Free(t.Context(), r.Namespace, r.Preferred, row.FencingToken); err != nil {
						t.Fatal(err)
					}
				}
				mustExec(t, pool(), "DELETE FROM snow_worker", "INSERT INTO snow_worker_space (space, layout) SELECT 'default', 'l' WHERE NOT EXISTS (SELECT 1 FROM snow_worker_space)")
			}
			r.ClaimID = "held"
			held, err := store.Claim(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			renewal := driver.Renewal{Namespace: r.Namespace, Worker: held.Worker, FencingToken: held.FencingToken, ClaimID: "held", Fence: held.Fence + 5000, TTL: r.TTL}
			if acknowledged(func() error { return store.Renew(t.Context(), renewal) }) && record().Fence != renewal.Fence {
				t.Errorf("a renewal was acknowledged, and is gone: %+v", record())
			}
			var before, after int64
			if acknowledged(func() (err error) { before, err = store.Count(t.Context(), "starts"); return err }) {
				if after, err = other.Count(t.Context(), "starts"); err != nil || after == before {
					t.Errorf("%d is counted twice, %v", before, err)
				}
			}
			if acknowledged(func() (err error) { before, err = store.Reserve(t.Context(), "numbers", 1); return err }) {
				if after, err = other.Reserve(t.Context(), "numbers", 1); err != nil || after == before {
					t.Errorf("%d is reserved twice, %v", before, err)
				}
			}
			if err := store.Renew(t.Context(), renewal); err != nil { // ids continue
				t.Error(err)
			}
		})
	}
}

// Each write sets what keeps it, whatever the session's settings are: a trigger records them.
func TestWritesSetWhatTheyNeed(t *testing.T) {
	server := testserver.New(t, testserver.KindPostgres, "-c", "fsync=on")
	admin := open(t, "pgx", server.DSN)
	if _, err := mustNew(sqlstore.New(admin, sqlstore.Config{})).Count(t.Context(), "starts"); err != nil {
		t.Fatal(err)
	}
	if _, err := mustNew(sqlstore.New(admin, sqlstore.Config{})).List(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	mustExec(t, admin, "CREATE TABLE seen (level text, isolation text)", `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN INSERT INTO public.seen VALUES (current_setting('synchronous_commit'), TG_TABLE_NAME || ' ' || TG_OP); RETURN NULL; END $$`)
	for _, table := range []string{"snow_worker_space", "snow_worker", "snow_worker_counter"} {
		mustExec(t, admin, "CREATE TRIGGER note AFTER INSERT OR UPDATE ON "+table+" FOR EACH STATEMENT EXECUTE FUNCTION note()")
	}
	for i, by := range []string{"pgx", "postgres"} {
		for _, level := range []string{"off", "local", "remote_write", "remote_apply", "on"} {
			mustExec(t, admin, "TRUNCATE seen")
			db := open(t, by, server.DSN)
			db.SetMaxOpenConns(1)
			mustExec(t, db, "SET synchronous_commit = "+level, "SET search_path = pg_temp")
			store := mustNew(sqlstore.New(db, sqlstore.Config{}))
			gen, err := worker.Open(t.Context(), store, worker.Config{Namespace: fmt.Sprint(level, i), FenceWindow: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			await(t, "renewal", func() bool { return gen.Stats().Renewals > 0 })
			if err := gen.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := store.Count(t.Context(), "starts"); err != nil {
				t.Error(err)
			}
			if _, err := store.Reserve(t.Context(), "numbers", 5); err != nil {
				t.Error(err)
			}
			var prepared int // at most this query, by pgx
			if err := db.QueryRow("SELECT COUNT(*) FROM pg_catalog.pg_prepared_statements").Scan(&prepared); err != nil || prepared > 1 {
				t.Errorf("%s: the store has left %d prepared statements, %v", by, prepared-1, err)
			}
			want := "on"
			if strings.HasPrefix(level, "remote") {
				want = level
			}
			var writes int
			var levels string
			if err := admin.QueryRow("SELECT COUNT(DISTINCT isolation), string_agg(DISTINCT level, ' ') FROM seen").Scan(&writes, &levels); err != nil || writes < 4 || levels != want {
				t.Errorf("%s, %s: %d kinds of writes at %s, %v", by, level, writes, levels, err)
			}
			var session string
			if err := db.QueryRow("SHOW synchronous_commit").Scan(&session); err != nil || session != level {
				t.Errorf("the session has %s afterwards, %v", session, err)
			}
		}
	}
}

// A setting that is changed while a lease is held stops its renewals, and the error names it.
func TestLossyWhileHeld(t *testing.T) {
	mariadb := testserver.NewMariaDB(t)
	// Only a restart changes fsync of a test server, so here a function shows it.
	postgres := searching(t, testserver.NewPostgres(t).DSN, "public,pg_catalog")
	show := "CREATE OR REPLACE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS " +
		"$$ SELECT CASE WHEN $1 = 'fsync' THEN '%s' ELSE pg_catalog.current_setting($1) END $$"
	mustExec(t, postgres, fmt.Sprintf(show, "on"))
	mustExec(t, open(t, "mysql", mariadb.DSN), "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
	cfg, err := mysql.ParseDSN(mariadb.DSN)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DBName = create(t, open(t, "mysql", mariadb.DSN), "")
	sqlite := "file:" + filepath.Join(t.TempDir(), "test.sqlite") + "?_pragma=journal_mode(delete)"
	for name, c := range map[string]struct {
		db       *sql.DB
		off, on  []string
		setting  string
		lossless bool // the store sets it
	}{
		"pgx":      {postgres, []string{fmt.Sprintf(show, "off")}, []string{fmt.Sprintf(show, "on")}, "fsync", false},
		"mariadb":  {open(t, "mysql", cfg.FormatDSN()), []string{"SET GLOBAL innodb_flush_log_at_trx_commit = 2"}, []string{"SET GLOBAL innodb_flush_log_at_trx_commit = 1"}, "innodb_flush_log_at_trx_commit", false},
		"sqlite":   {open(t, "sqlite", sqlite), []string{"PRAGMA journal_mode = memory"}, []string{"PRAGMA journal_mode = delete"}, "journal_mode", false},
		"sqlite 2": {open(t, "sqlite", sqlite), []string{"PRAGMA synchronous = OFF"}, []string{"PRAGMA synchronous = FULL"}, "synchronous", true},
	} {
		t.Run(name, func(t *testing.T) {
			c.db.SetMaxOpenConns(1)
			gen, err := worker.Open(t.Context(), mustNew(sqlstore.New(c.db, sqlstore.Config{})), worker.Config{FenceWindow: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer gen.Close(context.Background())
			mustExec(t, c.db, c.off...)
			renewed := gen.Stats().Renewals
			if c.lossless {
				await(t, "renewals", func() bool { return gen.Stats().Renewals > renewed+1 })
				var level int
				if err := c.db.QueryRow("PRAGMA synchronous").Scan(&level); err != nil || level != 0 {
					t.Errorf("the connection has synchronous = %d afterwards, %v", level, err)
				}
				return
			}
			var lossy *worker.DurabilityError
			await(t, "refusal", func() bool { return errors.As(gen.Failing(), &lossy) })
			if lossy.Setting != c.setting {
				t.Error(lossy)
			}
			mustExec(t, c.db, c.on...)
			await(t, "renewal", func() bool { return gen.Failing() == nil })
			if _, err := gen.Next(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
