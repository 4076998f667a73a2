package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
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
			space := sqlstore.Config{Table: "of_" + name}
			seen := map[int64]bool{}
			for round := range int64(2) {
				db := open(t, "mysql", c.dsn)
				var on int
				if err := db.QueryRow("SELECT @@autocommit").Scan(&on); err != nil || on != 0 {
					t.Fatalf("autocommit = %d, %v", on, err)
				}
				store := mustNew(sqlstore.New(db, space))
				cfg := long
				cfg.ClaimWait = -1 // the first holder's end is not waited for
				gen, err := worker.Open(t.Context(), store, cfg)
				must(t, err)
				rows, err := mustNew(sqlstore.New(admin, space)).List(t.Context(), "default")
				if err != nil || int64(len(rows)) != round+1 {
					t.Errorf("another session sees %+v, %v", rows, err)
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

// A table that a crash empties is refused, whichever of the three tables it is.
func TestLossyTables(t *testing.T) {
	use := func(db *sql.DB, cfg sqlstore.Config) error {
		store := mustNew(sqlstore.New(db, cfg))
		if err := acquire(t, store, once); err != nil {
			return err
		}
		_, err := store.Reserve(t.Context(), "starts", 1)
		return err
	}
	for _, alter := range []string{"SET UNLOGGED", "ENGINE=MEMORY", "ENGINE=MyISAM"} {
		t.Run(alter, func(t *testing.T) {
			e := engine{sqlstore.Postgres, "pgx", ""}
			if alter == "SET UNLOGGED" {
				e.dsn = testserver.New(t, testserver.KindPostgres, "-c", "fsync=on").DSN
			} else {
				e = newMySQL(t, testserver.NewMariaDB(t).DSN)
				mustExec(t, e.open(t), "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
			}
			db := e.open(t)
			for i, suffix := range []string{"_space", "", "_counter"} {
				cfg := sqlstore.Config{Table: fmt.Sprint("w_", i)}
				if err := use(db, cfg); err != nil {
					t.Errorf("%s: %v", suffix, err)
				}
				mustExec(t, db, "ALTER TABLE "+cfg.Table+suffix+" "+alter)
				var lossy *worker.DurabilityError
				if err := use(db, cfg); !errors.As(err, &lossy) || !strings.Contains(lossy.Setting, "w_") {
					t.Errorf("%s: %v", suffix, err)
				}
				if cfg.AllowDataLoss = true; use(db, cfg) != nil {
					t.Errorf("%s, allowed: %v", suffix, use(db, cfg))
				}
			}
			if e.dialect == sqlstore.Postgres {
				lossyPartitions(t, db, use)
			}
		})
	}
}

// lossyPartitions holds that each partition of a table is checked.
func lossyPartitions(t *testing.T, db *sql.DB, use func(*sql.DB, sqlstore.Config) error) {
	t.Helper()
	ddl, err := sqlstore.Config{Dialect: sqlstore.Postgres, Table: "parted"}.DDL()
	must(t, err)
	mustExec(t, db, ddl[0], ddl[1]+" PARTITION BY HASH (worker)",
		"CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
		"CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1) PARTITION BY HASH (space)",
		"CREATE TABLE parted_1_0 PARTITION OF parted_1 FOR VALUES WITH (MODULUS 1, REMAINDER 0)")
	if err := use(db, sqlstore.Config{Table: "parted"}); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"parted_0", "parted_1_0"} {
		mustExec(t, db, "ALTER TABLE "+part+" SET UNLOGGED")
		var lossy *worker.DurabilityError
		if err := use(db, sqlstore.Config{Table: "parted"}); !errors.As(err, &lossy) || lossy.Value != "u" || !strings.HasSuffix(lossy.Setting, part) {
			t.Errorf("%s: %v", part, err)
		}
		mustExec(t, db, "ALTER TABLE "+part+" SET LOGGED")
	}
}

// A temporary table of the same name changes nothing in PostgreSQL, where the table's schema is
// named. In MySQL it hides the table that all sessions share, and is refused, even with
// AllowDataLoss.
func TestTemporaryTables(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		for i, suffix := range []string{"_space", "", "_counter"} {
			cfg := sqlstore.Config{Dialect: e.dialect, Table: fmt.Sprint("hidden", i), AllowDataLoss: true}
			ddl, err := cfg.DDL()
			must(t, err)
			all := e.open(t)
			all.SetMaxOpenConns(1) // so that this session's are the store's
			mustExec(t, all, strings.Replace(strings.Replace(ddl[i], "CREATE TABLE", "CREATE TEMPORARY TABLE", 1), `"public".`, "", 1))
			store := mustNew(sqlstore.New(all, cfg))
			_, err = store.Reserve(t.Context(), "starts", 1)
			err = errors.Join(err, acquire(t, store, once))
			var config *core.ConfigError
			if refused := errors.As(err, &config) && config.Fields[0].Field == "Table" && strings.Contains(err.Error(), cfg.Table+suffix); refused != (e.dialect == sqlstore.MySQL) || err != nil && !refused {
				t.Errorf("%s: %v", suffix, err)
			}
			_ = all.Close()
			other := mustNew(sqlstore.New(e.open(t), cfg)) // which sees none of it
			if n, err := other.Reserve(t.Context(), "starts", 1); err != nil || (n == 2) == (suffix == "_counter" && e.dialect == sqlstore.MySQL) {
				t.Errorf("%s, from elsewhere: %d, %v", suffix, n, err)
			}
		}
	})
}
