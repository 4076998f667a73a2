package migrate

import (
	"context"
	"database/sql"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
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

// engine is one empty database, which another process can open too.
type engine struct {
	*sql.DB
	dsn string
}

func openPostgres(t testing.TB) *engine {
	t.Helper()
	return open(t, testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
}

func open(t testing.TB, dsn string) *engine {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &engine{db, dsn}
}

// config is that of a migration of the table orders.
func (db *engine) config(kind migrate.Kind) migrate.Config {
	return migrate.Config{Kind: kind, Table: "orders"}
}

func (db *engine) migrate(t testing.TB, cfg migrate.Config) migrate.Result {
	t.Helper()
	result, err := migrate.Run(t.Context(), db.DB, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// run executes statements.
func (db *engine) run(t testing.TB, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// one returns the only field of a query.
func (db *engine) one(t testing.TB, query string, args ...any) string {
	t.Helper()
	var text sql.NullString
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text.String
}

// expect compares the fields of queries with numbers.
func (db *engine) expect(t testing.TB, want string, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if got := db.one(t, q); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
}

// names are those of steps.
func names(steps []migrate.Step) string {
	all := make([]string, len(steps))
	for i, s := range steps {
		all[i] = string(s.Name) + " " + s.Table
	}
	return strings.Join(all, ", ")
}

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(m.Run())
}
