package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// With autocommit off, by the DSN or by the server's default, claims, renewals and counts are
// still there after the connection is closed.
func TestAutocommitOff(t *testing.T) {
	server := testserver.NewMariaDB(t)
	e := newMySQL(t, server.DSN)
	admin := e.open(t)
	mustExec(t, admin, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
	off := e.mysql(t)
	off.Params = map[string]string{"autocommit": "0"}
	for name, c := range map[string]struct{ dsn, set string }{
		"dsn": {off.FormatDSN(), "DO 0"}, "server": {e.dsn, "SET GLOBAL autocommit = 0"},
	} {
		t.Run(name, func(t *testing.T) {
			mustExec(t, admin, c.set)
			defer mustExec(t, admin, "SET GLOBAL autocommit = 1")
			cfg := sqlstore.Config{Table: "of_" + name}
			seen := map[int64]bool{}
			for round := range int64(2) {
				db := open(t, "mysql", c.dsn)
				var on int
				if err := db.QueryRow("SELECT @@autocommit").Scan(&on); err != nil || on != 0 {
					t.Fatalf("autocommit = %d, %v", on, err)
				}
				store := engines.MustNew(sqlstore.New(db, cfg))
				gen, err := worker.Open(t.Context(), store, long)
				must(t, err)
				st, err := engines.MustNew(sqlstore.New(admin, cfg)).List(t.Context(), "default")
				if err != nil || int64(len(st.Records)) != round+1 {
					t.Errorf("another session sees %+v, %v", st, err)
				}
				ids := make([]int64, 1000)
				must(t, gen.Fill(t.Context(), ids))
				for _, id := range ids {
					if seen[id] {
						t.Fatalf("id %d a second time", id)
					}
					seen[id] = true
				}
				if n, err := store.Reserve(t.Context(), "starts", 1); err != nil || n != round+1 {
					t.Errorf("start %d: %d, %v", round, n, err)
				}
				_ = db.Close() // as a crash does: nothing is released
				_ = gen.Close(context.Background())
			}
		})
	}
}

// A table that a crash empties is refused, whichever of the three tables it is, and whatever is allowed:
// it may be put back without its server's notice.
func TestLossyTables(t *testing.T) {
	for _, alter := range []string{"SET UNLOGGED", "ENGINE=MEMORY", "ENGINE=MyISAM"} {
		t.Run(alter, func(t *testing.T) {
			e := newPostgres(t)
			if alter != "SET UNLOGGED" {
				e = newMySQL(t, testserver.MariaDB(t).DSN)
			}
			for i, name := range []string{"w0_namespace", "w1", "w2_counter"} {
				db, cfg := e.open(t), sqlstore.Config{Table: fmt.Sprint("w", i), AllowDataLoss: true}
				use := func() error {
					store := engines.MustNew(sqlstore.New(db, cfg))
					if err := acquire(t, store, once); err != nil {
						return err
					}
					_, err := store.Reserve(t.Context(), "starts", 1)
					return err
				}
				must(t, use())
				mustExec(t, db, "ALTER TABLE "+name+" "+alter)
				var lossy *worker.DurabilityError
				if err := use(); !errors.As(err, &lossy) || !strings.HasSuffix(lossy.Setting, name) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// A setting that may lose a commit is refused for counts, and accepted for leases, which go on when it
// is changed.
func TestLossySettings(t *testing.T) {
	// Only a restart changes fsync of a test server, so here a function shows it.
	postgres := engine{driver: "pgx", dsn: testserver.NewPostgres(t).DSN}.with(t, "search_path", "public,pg_catalog").open(t)
	show := func(value string) string {
		return "CREATE OR REPLACE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS " +
			"$$ SELECT CASE WHEN $1 = 'fsync' THEN '" + value + "' ELSE pg_catalog.current_setting($1) END $$"
	}
	server := testserver.New(t, testserver.KindMariaDB, "--log-bin")
	mariadb := newMySQL(t, server.DSN).open(t)
	set := func(name string, value int) string { return fmt.Sprint("SET GLOBAL ", name, " = ", value) }
	mustExec(t, mariadb, set("innodb_flush_log_at_trx_commit", 1), set("sync_binlog", 1))
	for _, c := range []struct {
		db               *sql.DB
		lossy, on, names string
	}{
		{postgres, show("off"), show("on"), "fsync"},
		{mariadb, set("innodb_flush_log_at_trx_commit", 2), set("innodb_flush_log_at_trx_commit", 1), "innodb_flush_log_at_trx_commit"},
		{mariadb, set("sync_binlog", 0), set("sync_binlog", 1), "sync_binlog"},
		{mariadb, "SET SESSION sql_log_bin = 0", "SET SESSION sql_log_bin = 1", "sql_log_bin"},
	} {
		t.Run(c.lossy, func(t *testing.T) {
			c.db.SetMaxOpenConns(1)
			store := engines.MustNew(sqlstore.New(c.db, sqlstore.Config{}))
			mustExec(t, c.db, c.lossy)
			refused := func() {
				t.Helper()
				var lossy *worker.DurabilityError
				if _, err := store.Reserve(t.Context(), "numbers", 1); !errors.As(err, &lossy) || lossy.Setting != c.names || !strings.Contains(err.Error(), c.names) {
					t.Error(err)
				}
			}
			refused()
			gen, err := worker.Open(t.Context(), store, worker.Config{FenceWindow: 3 * time.Second, ClaimWait: patience})
			must(t, err)
			defer gen.Close(context.Background())
			mustExec(t, c.db, c.on)
			_, err = store.Reserve(t.Context(), "numbers", 1)
			must(t, err)
			mustExec(t, c.db, c.lossy)
			refused()
			renewed := gen.Stats().Renewals
			await(t, "renewal", func() bool { return gen.Stats().Renewals > renewed+1 })
			if st := gen.Stats(); st.Losses > 0 || st.Failures > 0 {
				t.Errorf("%+v", st)
			}
			mustExec(t, c.db, c.on)
		})
	}
}

// A temporary table of the same name changes nothing where the table's schema is named.
func TestTemporaryTables(t *testing.T) {
	for _, e := range []engine{newSQLite(t), newPostgres(t)} {
		for i, name := range []string{"hidden0_namespace", "hidden1", "hidden2_counter"} {
			cfg := sqlstore.Config{Dialect: e.dialect, Table: fmt.Sprint("hidden", i), AllowDataLoss: true}
			ddl, err := cfg.DDL()
			must(t, err)
			db := e.open(t)
			db.SetMaxOpenConns(1) // so that this session's are the store's
			mustExec(t, db, strings.NewReplacer("CREATE TABLE", "CREATE TEMPORARY TABLE", `"public".`, "").Replace(ddl[i]))
			for want, db := range []*sql.DB{db, e.open(t)} {
				store := engines.MustNew(sqlstore.New(db, cfg))
				must(t, acquire(t, store, once))
				if n, err := store.Reserve(t.Context(), "starts", 1); err != nil || n != int64(want+1) {
					t.Errorf("%s: %d, %v", name, n, err)
				}
			}
		}
	}
}
