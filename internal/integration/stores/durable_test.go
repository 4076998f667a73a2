package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// With autocommit off, by the DSN or by the server's default, claims, renewals and counts are
// still there after the connection is closed.
func TestAutocommitOff(t *testing.T) {
	server := testserver.NewMariaDB(t)
	cfg, err := mysql.ParseDSN(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DBName = create(t, open(t, "mysql", server.DSN), "")
	admin := open(t, "mysql", cfg.FormatDSN())
	if _, err := admin.Exec("SET GLOBAL innodb_flush_log_at_trx_commit = 1"); err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]func() string{
		"dsn": func() string {
			off := cfg.Clone()
			off.Params = map[string]string{"autocommit": "0"}
			return off.FormatDSN()
		},
		"server": func() string {
			if _, err := admin.Exec("SET GLOBAL autocommit = 0"); err != nil {
				t.Fatal(err)
			}
			return cfg.FormatDSN()
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := set()
			defer func() {
				if _, err := admin.Exec("SET GLOBAL autocommit = 1"); err != nil {
					t.Error(err)
				}
			}()
			space := sqlstore.Config{Table: "of_" + name}
			seen := map[int64]bool{}
			for round := range int64(2) {
				db := open(t, "mysql", dsn)
				var off int
				if err := db.QueryRow("SELECT @@autocommit").Scan(&off); err != nil || off != 0 {
					t.Fatalf("autocommit = %d, %v", off, err)
				}
				store := mustNew(sqlstore.New(db, space))
				cfg := long
				cfg.ClaimWait = -1 // the first holder's end is not waited for
				gen, err := worker.Open(t.Context(), store, cfg)
				if err != nil {
					t.Fatal(err)
				}
				rows, err := mustNew(sqlstore.New(admin, space)).List(t.Context(), "default")
				held := 0
				for _, row := range rows {
					if row.ClaimID != "" {
						held++
					}
				}
				if err != nil || int64(held) != round+1 {
					t.Errorf("another session sees %+v, %v", rows, err)
				}
				for range 1000 {
					id, err := gen.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if seen[id] {
						t.Fatalf("id %d a second time", id)
					}
					seen[id] = true
				}
				if n, err := store.Count(t.Context(), "starts"); err != nil || n != round {
					t.Errorf("start %d: %d, %v", round, n, err)
				}
				_ = db.Close() // as a crash does: nothing is released
				_ = gen.Close(context.Background())
			}
		})
	}
}

// A database of SQLite that ends with its connection is refused, whatever its name, and so is
// a temporary table.
func TestSQLiteWithoutFile(t *testing.T) {
	acquire := func(db *sql.DB, cfg sqlstore.Config) error {
		db.SetMaxOpenConns(1)
		store, err := sqlstore.New(db, cfg)
		if err != nil {
			return err
		}
		lease, err := worker.Open(t.Context(), store, once)
		if lease != nil {
			_ = lease.Close(context.Background())
		}
		return err
	}
	for _, dsn := range []string{"", ":memory:", "file:", "file:?_pragma=journal_mode(delete)", "file:?_pragma=journal_mode(wal)&_pragma=synchronous(2)", "file::memory:?cache=shared", "file:x?mode=memory&cache=shared"} {
		t.Run(dsn, func(t *testing.T) {
			var lossy *worker.DurabilityError
			if err := acquire(open(t, "sqlite", dsn), sqlstore.Config{}); !errors.As(err, &lossy) {
				t.Errorf("%q: %v", dsn, err)
			}
			if err := acquire(open(t, "sqlite", dsn), sqlstore.Config{AllowDataLoss: true}); err != nil {
				t.Errorf("%q, allowed: %v", dsn, err)
			}
		})
	}
	file := func() *sql.DB { return open(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "w.sqlite")) }
	for _, table := range []string{"temp.w", "TEMP.w", "pg_temp.w", "pg_temp_3.w"} {
		var config *core.ConfigError
		if err := acquire(file(), sqlstore.Config{Table: table, AllowDataLoss: true}); !errors.As(err, &config) || config.Fields[0].Field != "Table" {
			t.Errorf("%q: %v", table, err)
		}
	}
	if err := acquire(file(), sqlstore.Config{Table: "main.w"}); err != nil {
		t.Error(err)
	}
	// What counts is the database of the table.
	for attached, want := range map[string]bool{":memory:": false, "": false, filepath.Join(t.TempDir(), "other.sqlite"): true} {
		db := file()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("ATTACH ? AS other", attached); err != nil {
			t.Fatal(err)
		}
		var lossy *worker.DurabilityError
		if err := acquire(db, sqlstore.Config{Table: "other.w"}); errors.As(err, &lossy) == want || want && err != nil {
			t.Errorf("attached %q: %v", attached, err)
		}
	}
}

// A table that a crash empties is refused, whichever of the three tables it is.
func TestLossyTables(t *testing.T) {
	suffixes := []string{"_space", "", "_counter"}
	use := func(db *sql.DB, table string) error {
		store := mustNew(sqlstore.New(db, sqlstore.Config{Table: table}))
		lease, err := worker.Open(t.Context(), store, once)
		if err != nil {
			return err
		}
		_ = lease.Close(context.Background())
		_, err = store.Count(t.Context(), "starts")
		return err
	}
	check := func(t *testing.T, db *sql.DB, schema string, alter func(table string) string) {
		t.Helper()
		for i, suffix := range suffixes {
			for _, prefix := range []string{"", schema + "."} {
				table := fmt.Sprintf("%sw_%d%d", prefix, i, len(prefix))
				if err := use(db, table); err != nil {
					t.Errorf("%s: %v", table, err)
				}
				if _, err := db.Exec(alter(table + suffix)); err != nil {
					t.Fatal(err)
				}
				var lossy *worker.DurabilityError
				if err := use(db, table); !errors.As(err, &lossy) || !strings.Contains(lossy.Setting, "w_") {
					t.Errorf("%s%s: %v", table, suffix, err)
				}
				if _, err := mustNew(sqlstore.New(db, sqlstore.Config{Table: table, AllowDataLoss: true})).Count(t.Context(), "starts"); err != nil {
					t.Errorf("%s%s, allowed: %v", table, suffix, err)
				}
			}
		}
	}
	t.Run("postgres", func(t *testing.T) {
		db := open(t, "pgx", testserver.New(t, testserver.KindPostgres, "-c", "fsync=on").DSN)
		check(t, db, "public", func(table string) string { return "ALTER TABLE " + table + " SET UNLOGGED" })
		// Each partition of a table is checked.
		ddl, err := sqlstore.Config{Dialect: sqlstore.Postgres, Table: "parted"}.DDL()
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range append(ddl[:1:1], ddl[1]+" PARTITION BY HASH (worker)",
			"CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
			"CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1) PARTITION BY HASH (space)",
			"CREATE TABLE parted_1_0 PARTITION OF parted_1 FOR VALUES WITH (MODULUS 1, REMAINDER 0)") {
			if _, err := db.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		if err := use(db, "parted"); err != nil {
			t.Error(err)
		}
		for _, part := range []string{"parted_0", "parted_1_0"} {
			if _, err := db.Exec("ALTER TABLE " + part + " SET UNLOGGED"); err != nil {
				t.Fatal(err)
			}
			var lossy *worker.DurabilityError
			if err := use(db, "parted"); !errors.As(err, &lossy) || lossy.Value != "u" || !strings.HasSuffix(lossy.Setting, part) {
				t.Errorf("%s: %v", part, err)
			}
			if _, err := mustNew(sqlstore.New(db, sqlstore.Config{Table: "parted", AllowDataLoss: true})).List(t.Context(), "x"); err != nil {
				t.Errorf("%s, allowed: %v", part, err)
			}
			if _, err := db.Exec("ALTER TABLE " + part + " SET LOGGED"); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("mariadb", func(t *testing.T) {
		server := testserver.NewMariaDB(t)
		cfg, err := mysql.ParseDSN(server.DSN)
		if err != nil {
			t.Fatal(err)
		}
		cfg.DBName = create(t, open(t, "mysql", server.DSN), "")
		db := open(t, "mysql", cfg.FormatDSN())
		if _, err := db.Exec("SET GLOBAL innodb_flush_log_at_trx_commit = 1"); err != nil {
			t.Fatal(err)
		}
		for _, engine := range []string{"MEMORY", "MyISAM"} {
			check(t, db, cfg.DBName, func(table string) string { return "ALTER TABLE " + table + " ENGINE=" + engine })
			for _, table := range []string{"w_0", "w_1", "w_2"} {
				for _, prefix := range []string{"0", strconv.Itoa(len(cfg.DBName) + 1)} {
					for _, suffix := range suffixes {
						if _, err := db.Exec("DROP TABLE IF EXISTS " + table + prefix + suffix); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
	})
}

// A temporary table of the same name changes nothing in PostgreSQL and SQLite, where the table's
// schema is named. In MySQL it hides the table that all sessions share, and is refused, even with
// AllowDataLoss.
func TestTemporaryTables(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		for _, suffix := range []string{"_space", "", "_counter"} {
			table := "hidden" + strings.TrimPrefix(suffix, "_")
			cfg := sqlstore.Config{Dialect: e.dialect, Table: table, AllowDataLoss: true}
			ddl, err := cfg.DDL()
			if err != nil {
				t.Fatal(err)
			}
			all := e.open(t)
			all.SetMaxOpenConns(1) // so that this session's are the store's
			i := map[string]int{"_space": 0, "": 1, "_counter": 2}[suffix]
			mustExec(t, all, strings.Replace(strings.Replace(ddl[i], "CREATE TABLE", "CREATE TEMPORARY TABLE", 1), `"public".`, "", 1))
			store := mustNew(sqlstore.New(all, cfg))
			_, err = store.Count(t.Context(), "starts")
			lease, failed := worker.Open(t.Context(), store, once)
			if err = errors.Join(err, failed); failed == nil {
				_ = lease.Close(context.Background())
			}
			var config *core.ConfigError
			if refused := errors.As(err, &config) && config.Fields[0].Field == "Table" && strings.Contains(err.Error(), table+suffix); refused != (e.dialect == sqlstore.MySQL) || err != nil && !refused {
				t.Errorf("%s%s: %v", table, suffix, err)
			}
			_ = all.Close()
			other := mustNew(sqlstore.New(e.open(t), cfg)) // which sees none of it
			if n, err := other.Count(t.Context(), "starts"); err != nil || (n == 1) == (suffix == "_counter" && e.dialect == sqlstore.MySQL) {
				t.Errorf("%s%s, from elsewhere: %d, %v", table, suffix, n, err)
			}
		}
	})
}
