package migrate

import (
	"context"
	"errors"
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

func openPostgres(t testing.TB) *engine {
	t.Helper()
	return open(t, testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
}

func open(t testing.TB, dsn string) *engine { return &engine{engines.Open(t, ddl.Postgres, dsn)} }

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
	if left := db.migrate(t, cfg).Plan.Left(); len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
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
	if now := db.schema(t, "public"); now != before {
		t.Errorf("the schema is\n%s\nand was\n%s", now, before)
	}
}

// names are those of steps.
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
