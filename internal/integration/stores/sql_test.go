package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite"
	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// engine is one empty database.
type engine struct {
	name    string
	dialect sqlstore.Dialect
	open    func(t *testing.T) *sql.DB
}

// onEvery runs a test on an empty database of every engine.
func onEvery(t *testing.T, test func(t *testing.T, e engine)) {
	t.Run("sqlite", func(t *testing.T) {
		for _, mode := range []string{"wal", "delete", "impatient"} {
			t.Run(mode, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "test.sqlite")
				test(t, engine{"sqlite", sqlstore.SQLite, func(t *testing.T) *sql.DB {
					pragmas := "?_pragma=busy_timeout(60000)&_pragma=journal_mode(" + mode + ")&_pragma=synchronous(2)"
					if mode == "impatient" {
						pragmas = "" // a locked file is an error at once
					}
					db := open(t, "sqlite", "file:"+file+pragmas)
					if mode == "delete" {
						db.SetMaxOpenConns(1) // which must do
					}
					return db
				}})
			})
		}
	})
	t.Run("postgres", func(t *testing.T) {
		server := testserver.Postgres(t).DSN
		for _, isolation := range []string{"read committed", "repeatable read", "serializable", "lib/pq"} {
			t.Run(isolation, func(t *testing.T) {
				name := create(t, open(t, "pgx", server), " WITH (FORCE)")
				u, err := url.Parse(server)
				if err != nil {
					t.Fatal(err)
				}
				u.Path = "/" + name
				query := u.Query()
				driver := "pgx"
				if isolation == "lib/pq" {
					driver = "postgres"
				} else {
					query.Set("default_transaction_isolation", isolation)
				}
				if isolation == "repeatable read" {
					query.Set("default_query_exec_mode", "simple_protocol")
				}
				u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // a blank, to PostgreSQL
				test(t, engine{"postgres", sqlstore.Postgres, func(t *testing.T) *sql.DB { return open(t, driver, u.String()) }})
			})
		}
	})
	t.Run("mysql", func(t *testing.T) {
		for i, server := range testserver.MySQLs(t) {
			for _, mode := range []string{"prepared", "interpolated", "found rows", "serializable", "odd session"} {
				t.Run(fmt.Sprintf("%d/%s", i, mode), func(t *testing.T) {
					cfg, err := mysql.ParseDSN(server.DSN)
					if err != nil {
						t.Fatal(err)
					}
					admin := open(t, "mysql", server.DSN)
					cfg.DBName = create(t, admin, "")
					cfg.InterpolateParams = mode == "interpolated"
					cfg.ClientFoundRows = mode == "found rows"
					if mode == "interpolated" {
						cfg.Params = map[string]string{"time_zone": "'-07:00'"}
					}
					switch mode {
					case "serializable":
						cfg.Params = serializable(t, admin)
					case "odd session":
						cfg.Params = map[string]string{"autocommit": "0", "sql_select_limit": "1", "completion_type": "'CHAIN'", "sql_mode": "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"}
						if _, err := admin.Exec("SET SESSION sql_mode = 'EMPTY_STRING_IS_NULL'"); err == nil { // MariaDB
							cfg.Params["sql_mode"] = "'EMPTY_STRING_IS_NULL,ANSI_QUOTES'"
						}
					}
					test(t, engine{"mysql", sqlstore.MySQL, func(t *testing.T) *sql.DB { return open(t, "mysql", cfg.FormatDSN()) }})
				})
			}
		}
	})
}

// serializable is this isolation in a DSN of MySQL.
func serializable(t *testing.T, admin *sql.DB) map[string]string {
	t.Helper()
	var name string // MariaDB has not always called it as MySQL does
	if err := admin.QueryRow("SHOW VARIABLES WHERE variable_name IN ('tx_isolation', 'transaction_isolation')").Scan(&name, new(string)); err != nil {
		t.Fatal(err)
	}
	return map[string]string{name: "'SERIALIZABLE'"}
}

func open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// inDatabase returns the DSN of a PostgreSQL database that is dropped after the test.
func inDatabase(t testing.TB, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + create(t, open(t, "pgx", dsn), " WITH (FORCE)")
	return u.String()
}

// create makes a database that is dropped after the test.
func create(t testing.TB, admin *sql.DB, drop string) (name string) {
	t.Helper()
	name = fmt.Sprintf("snowkey_%016x", rand.Uint64())
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A lock that is still held must not block the tests that follow.
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := admin.ExecContext(ctx, "DROP DATABASE "+name+drop); err != nil {
			t.Error(err)
		}
	})
	return name
}

func TestSQLStore(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		storetest.Run(t, storetest.Harness{Hung: deafSQL, Open: func(t *testing.T) driver.Store {
			return mustNew(sqlstore.New(e.open(t), sqlstore.Config{AllowDataLoss: true}))
		}})
	})
}

// Generators of many processes at once, opened as in the README. Each process creates the
// tables if they do not exist.
func TestManyStarts(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		const starts = 12
		type outcome struct {
			gen *worker.Generator
			err error
		}
		done := make(chan outcome, starts)
		for range starts {
			db := e.open(t)
			go func() {
				gen, err := sqlstore.Open(context.Background(), db, sqlstore.Config{AllowDataLoss: true, Lease: worker.Config{ClaimWait: patience, Timeout: patience}})
				done <- outcome{gen, err}
			}()
		}
		seen := map[int64]bool{}
		for range starts {
			o := <-done
			if o.err != nil {
				t.Error(o.err)
				continue
			}
			defer o.gen.Close(context.Background())
			if _, err := o.gen.Next(t.Context()); err != nil {
				t.Error(err)
			}
			if seen[o.gen.Worker()] {
				t.Errorf("number %d was given twice", o.gen.Worker())
			}
			seen[o.gen.Worker()] = true
		}
	})
}

func TestDetectedAndNamed(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		cfg := sqlstore.Config{Dialect: e.dialect, Table: "Numbers_of_Order", AllowDataLoss: true}
		ddl, err := cfg.DDL()
		if err != nil || len(ddl) != 3 {
			t.Fatalf("%q, %v", ddl, err)
		}
		db := e.open(t)
		// If the user may not create them, the error has the statement, with the schema before the name.
		refused := cfg
		refused.NoCreate = true
		_, err = worker.Open(t.Context(), mustNew(sqlstore.New(db, refused)), once)
		_, columns, _ := strings.Cut(ddl[0], " (")
		if err == nil || !strings.Contains(err.Error(), columns) {
			t.Errorf("%v", err)
		}
		for _, statement := range ddl {
			for range 2 { // also where it is there
				if _, err := db.Exec(statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		refused.Dialect = sqlstore.Detect
		lease, err := worker.Open(t.Context(), mustNew(sqlstore.New(db, refused)), worker.Config{Owner: "Käthe's 🖥 host", Timeout: patience, ClaimWait: patience})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := mustNew(sqlstore.New(db, cfg)).List(t.Context(), "default")
		held := 0
		for _, row := range rows {
			if row.ClaimID != "" {
				if held++; row.Owner != "Käthe's 🖥 host" || row.Worker != lease.Worker() {
					t.Errorf("%+v", row)
				}
			}
		}
		if err != nil || held != 1 {
			t.Errorf("%+v, %v", rows, err)
		}
		if err := lease.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestSQLCounter(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		const clients, each = 4, 8
		got := make(chan int64, clients*each)
		errs := make(chan error, clients)
		for range clients {
			store := mustNew(sqlstore.New(e.open(t), sqlstore.Config{AllowDataLoss: true}))
			go func() {
				for range each {
					n, err := store.Count(context.Background(), "starts")
					if err != nil {
						errs <- err
						return
					}
					got <- n
				}
				errs <- nil
			}()
		}
		for range clients {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		seen := map[int64]bool{}
		for range clients * each {
			n := <-got
			if seen[n] || n < 0 || n >= clients*each {
				t.Errorf("%d", n)
			}
			seen[n] = true
		}
		layout := core.Layout{TimeBits: 41, WorkerBits: 5, SequenceBits: 8}
		store := mustNew(sqlstore.New(e.open(t), sqlstore.Config{AllowDataLoss: true}))
		n, left, err := worker.FromCounter(t.Context(), store, layout, "STARTS")
		if err != nil || n != 0 || left != 31 {
			t.Errorf("%v, %v", n, err)
		}
		var used *worker.CounterExhaustedError
		if _, _, err := worker.FromCounter(t.Context(), store, layout, "starts"); !errors.As(err, &used) || used.WorkerIDs != 32 {
			t.Errorf("%v", err)
		}
	})
}

// A database that may lose acknowledged writes is refused.
func TestLossySettings(t *testing.T) {
	lossy := func(t *testing.T, db *sql.DB, setting string) {
		t.Helper()
		lease, err := worker.Open(t.Context(), mustNew(sqlstore.New(db, sqlstore.Config{})), once)
		if lease != nil {
			_ = lease.Close(context.Background())
		}
		var lossy *worker.DurabilityError
		if setting == "" && errors.As(err, &lossy) || setting != "" && (!errors.As(err, &lossy) || lossy.Setting != setting) {
			t.Errorf("%q: %v", setting, err)
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		for i, c := range []struct{ pragmas, setting string }{
			{"_pragma=synchronous(2)", ""},
			{"_pragma=synchronous(2)&_pragma=journal_mode(wal)", ""},
			{"_pragma=synchronous(1)&_pragma=journal_mode(wal)", ""}, // the store sets it
			{"_pragma=synchronous(0)", ""},
			{"_pragma=journal_mode(memory)", "journal_mode"},
		} {
			lossy(t, open(t, "sqlite", fmt.Sprintf("file:%s?%s", filepath.Join(dir, fmt.Sprint(i)), c.pragmas)), c.setting)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		server := testserver.NewPostgres(t)
		lossy(t, open(t, "pgx", server.DSN), "fsync") // as the test's servers are
		lossy(t, open(t, "postgres", server.DSN), "fsync")
	})
	t.Run("mariadb", func(t *testing.T) {
		server := testserver.NewMariaDB(t)
		db := open(t, "mysql", server.DSN)
		set := func(value int) {
			if _, err := db.Exec(fmt.Sprintf("SET GLOBAL innodb_flush_log_at_trx_commit = %d", value)); err != nil {
				t.Fatal(err)
			}
		}
		for _, value := range []int{0, 2} {
			set(value)
			lossy(t, db, "innodb_flush_log_at_trx_commit")
		}
		set(1)
		lossy(t, db, "")
	})
}

// The server is killed while a lease is held, and started again: it has all acknowledged writes,
// and the lease continues.
func TestServerIsKilled(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *testserver.Server{"postgres": testserver.NewPostgres, "mariadb": testserver.NewMariaDB} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			driver := map[string]string{"postgres": "pgx", "mariadb": "mysql"}[name]
			db := open(t, driver, server.DSN)
			rideOutAKill(t, server, mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true})))
		})
	}
}

// patience is the timeout of what must happen, on a busy machine.
const patience = 3 * time.Minute

// once makes one attempt, with enough time. long keeps its lease on a busy machine.
var (
	once = worker.Config{ClaimWait: -1, Timeout: patience}
	long = worker.Config{FenceWindow: 10 * time.Minute, TTL: 15 * time.Minute, ClaimWait: patience, Timeout: patience}
)

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s in %v", what, patience)
		}
	}
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
