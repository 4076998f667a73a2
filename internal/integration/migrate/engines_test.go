package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// patience is the timeout of what must happen, on a busy machine.
const patience = 9 * time.Minute

// rows is how many rows the table of orders has.
func rows(t testing.TB) int {
	t.Helper()
	text := os.Getenv("SNOWKEY_MIGRATE_ROWS")
	if text == "" {
		return 2000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 {
		t.Fatalf("SNOWKEY_MIGRATE_ROWS=%q: must be a number of at least 1000", text)
	}
	return n
}

// engine is one empty database of PostgreSQL.
type engine struct{ *engines.Engine }

var must = engines.Must

// openPostgres is for a test that runs next to others.
func openPostgres(t *testing.T) *engine {
	t.Helper()
	t.Parallel()
	return openNext(t)
}

// openNext opens another database in the same test.
func openNext(t testing.TB) *engine {
	t.Helper()
	return open(t, testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
}

func open(t testing.TB, dsn string) *engine { return &engine{engines.Open(t, ddl.Postgres, dsn)} }

// pair makes a table, and one that refers to it.
func (db *engine) pair(t testing.TB) {
	t.Helper()
	db.Run(t, "CREATE TABLE orders (id serial PRIMARY KEY, note varchar(100) NOT NULL)", "INSERT INTO orders (note) VALUES ('old'), ('old')",
		"CREATE TABLE order_lines (order_id int PRIMARY KEY, FOREIGN KEY (order_id) REFERENCES orders (id))", "INSERT INTO order_lines VALUES (1), (2)")
}

// openPair opens a database with them, as openPostgres does.
func openPair(t *testing.T) *engine {
	t.Helper()
	db := openPostgres(t)
	db.pair(t)
	return db
}

// config is for a migration of the table orders, in a child too.
func (*engine) config() migrate.Config { return migrate.Config{Table: "orders"} }

func (db *engine) migrate(t testing.TB, cfg migrate.Config) migrate.Result {
	t.Helper()
	result, err := migrate.Run(t.Context(), db.DB, cfg)
	must(t, err)
	return result
}

// start begins a migration, whose end it returns.
func (db *engine) start(cfg migrate.Config) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := migrate.Run(context.Background(), db.DB, cfg)
		ended <- err
	}()
	return ended
}

// finish does the rest of a migration, after which nothing is left.
func (db *engine) finish(t testing.TB, cfg migrate.Config) {
	t.Helper()
	cfg.Undo, cfg.Finish, cfg.StopBefore = false, true, ""
	if left := db.migrate(t, cfg).Plan.Steps; len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
}

// undo goes all of the way back, after which nothing is left.
func (db *engine) undo(t testing.TB, cfg migrate.Config) {
	t.Helper()
	cfg.Undo, cfg.StopBefore = true, ""
	if left := db.migrate(t, cfg).Plan.Steps; len(left) != 0 {
		t.Errorf("left of the way back: %s", names(left))
	}
}

// begin begins a transaction with these statements, which is rolled back after the test at the latest.
func (db *engine) begin(t testing.TB, statements ...string) *sql.Tx {
	t.Helper()
	tx, err := db.Begin()
	must(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	for _, s := range statements {
		_, err := tx.Exec(s)
		must(t, err)
	}
	return tx
}

// await waits until a query returns 1.
func (db *engine) await(t testing.TB, query string) {
	t.Helper()
	for begun := time.Now(); db.One(t, query) != "1"; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("not in %v: %s", patience, query)
		}
	}
}

// role makes a role, which is dropped after the test.
func (db *engine) role(t testing.TB, name string) {
	t.Helper()
	db.Run(t, fmt.Sprintf("DO $$ BEGIN CREATE ROLE %q; EXCEPTION WHEN duplicate_object THEN END $$", name))
	t.Cleanup(func() { _ = db.Try(fmt.Sprintf("DROP OWNED BY %q; DROP ROLE %[1]q", name)) })
}

// refuses runs a migration that must not begin: its error has these parts, and the tables are as they were.
func (db *engine) refuses(t testing.TB, cfg migrate.Config, wants ...string) {
	t.Helper()
	before := db.schema(t, "public")
	_, err := migrate.Run(t.Context(), db.DB, cfg)
	for _, want := range wants {
		if config := new(core.ConfigError); !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	db.unchanged(t, before)
}

// unchanged compares the schema with what it was.
func (db *engine) unchanged(t testing.TB, before string) {
	t.Helper()
	if now := db.schema(t, "public"); now != before {
		t.Errorf("the schema is\n%s\nand was\n%s", now, before)
	}
}

// names returns the names of steps.
func names(steps []migrate.Step) string {
	all := make([]string, len(steps))
	for i, s := range steps {
		all[i] = s.Name + " " + s.Table
	}
	return strings.Join(all, ", ")
}

func TestMain(m *testing.M) {
	if os.Getenv(childDSN) != "" {
		os.Exit(child())
	}
	os.Exit(m.Run())
}
