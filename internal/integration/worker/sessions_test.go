package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A transaction that somebody has left open on the only connection of a pool would undo a claim, a
// renewal or a count when it is rolled back. The store refuses, or uses a transaction of its own.
func TestOpenTransaction(t *testing.T) {
	pq := newPostgres(t)
	pq.driver = "postgres"
	engines := []engine{newPostgres(t), pq}
	for _, server := range testserver.MySQLs(t) {
		engines = append(engines, newMySQL(t, server.DSN))
	}
	for _, e := range engines {
		t.Run(e.driver, func(t *testing.T) {
			other := e.store(t)
			_, err := other.Reserve(t.Context(), "starts", 1) // makes the table
			must(t, err)
			_, err = other.List(t.Context(), "default")
			must(t, err)
			db := e.open(t)
			db.SetMaxOpenConns(1)
			store := mustNew(sqlstore.New(db, lossy))
			r := driver.Request{
				Namespace: "default", Layout: "l", WorkerIDs: 8, Preferred: 3, Exclude: -1, ClaimID: "first", Owner: "o",
				Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 3_600_000, MaxSkew: 1 << 40, MaxLead: 1 << 40,
			}
			// acknowledged runs a write in a session with an open transaction, which is rolled back, and
			// reports whether it was acknowledged.
			acknowledged := func(write func() error) bool {
				t.Helper()
				mustExec(t, db, "BEGIN")
				err := write()
				mustExec(t, db, "ROLLBACK")
				if err != nil && !strings.Contains(err.Error(), "left open") {
					t.Error(err)
				}
				return err == nil
			}
			record := func() driver.Record {
				t.Helper()
				rows, err := other.List(t.Context(), r.Namespace)
				must(t, err)
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
					must(t, other.Free(t.Context(), r.Namespace, r.Preferred, row.FencingToken))
				}
				mustExec(t, e.open(t), "DELETE FROM snow_worker", "INSERT INTO snow_worker_space (space, layout) SELECT 'default', 'l' WHERE NOT EXISTS (SELECT 1 FROM snow_worker_space)")
			}
			r.ClaimID = "held"
			held, err := store.Claim(t.Context(), r)
			must(t, err)
			renewal := driver.Renewal{Namespace: r.Namespace, Worker: held.Worker, FencingToken: held.FencingToken, ClaimID: "held", Fence: held.Fence + 5000, TTL: r.TTL}
			if acknowledged(func() error { return store.Renew(t.Context(), renewal) }) && record().Fence != renewal.Fence {
				t.Errorf("a renewal was acknowledged, and is gone: %+v", record())
			}
			var before, after int64
			if acknowledged(func() (err error) { before, err = store.Reserve(t.Context(), "starts", 1); return err }) {
				if after, err = other.Reserve(t.Context(), "starts", 1); err != nil || after == before {
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
	if _, err := mustNew(sqlstore.New(admin, sqlstore.Config{})).Reserve(t.Context(), "starts", 1); err != nil {
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
			must(t, err)
			await(t, "renewal", func() bool { return gen.Stats().Renewals > 0 })
			if err := gen.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := store.Reserve(t.Context(), "starts", 1); err != nil {
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

// A setting that may lose a commit is refused. If it is changed while a lease is held, renewals stop,
// and the error names it.
func TestLossySettings(t *testing.T) {
	// Only a restart changes fsync of a test server, so here a function shows it.
	postgres := engine{sqlstore.Postgres, "pgx", testserver.NewPostgres(t).DSN}.with(t, "search_path", "public,pg_catalog").open(t)
	show := func(value string) string {
		return "CREATE OR REPLACE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS " +
			"$$ SELECT CASE WHEN $1 = 'fsync' THEN '" + value + "' ELSE pg_catalog.current_setting($1) END $$"
	}
	mariadb := newMySQL(t, testserver.NewMariaDB(t).DSN).open(t)
	for _, c := range []struct {
		db               *sql.DB
		lossy, on, names string
	}{
		{postgres, show("off"), show("on"), "fsync"},
		{mariadb, "SET GLOBAL innodb_flush_log_at_trx_commit = 2", "SET GLOBAL innodb_flush_log_at_trx_commit = 1", "innodb_flush_log_at_trx_commit"},
		{mariadb, "SET GLOBAL innodb_flush_log_at_trx_commit = 0", "SET GLOBAL innodb_flush_log_at_trx_commit = 1", "innodb_flush_log_at_trx_commit"},
	} {
		t.Run(c.lossy, func(t *testing.T) {
			c.db.SetMaxOpenConns(1)
			store := mustNew(sqlstore.New(c.db, sqlstore.Config{}))
			mustExec(t, c.db, c.lossy)
			var refused *worker.DurabilityError
			if err := acquire(t, store, once); !errors.As(err, &refused) || refused.Setting != c.names {
				t.Error(err)
			}
			mustExec(t, c.db, c.on)
			gen, err := worker.Open(t.Context(), store, worker.Config{FenceWindow: 3 * time.Second})
			must(t, err)
			defer gen.Close(context.Background())
			mustExec(t, c.db, c.lossy)
			await(t, "refusal", func() bool { return errors.As(gen.Failing(), &refused) })
			mustExec(t, c.db, c.on)
			await(t, "renewal", func() bool { return gen.Failing() == nil })
			_, err = gen.Next(t.Context())
			must(t, err)
		})
	}
}
