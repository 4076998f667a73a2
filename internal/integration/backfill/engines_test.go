package backfill

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// engine is one empty database.
type engine struct{ *engines.Engine }

var must = engines.Must

func parallel(test func(t *testing.T, db *engine)) func(t *testing.T, db *engines.Engine) {
	return func(t *testing.T, db *engines.Engine) {
		t.Parallel()
		test(t, &engine{db})
	}
}

// onEvery runs a test on every engine, and in a session that is far from the defaults.
func onEvery(t *testing.T, test func(t *testing.T, db *engine)) {
	t.Helper()
	onThree(t, test)
	t.Run("mysql, interpolated, autocommit off", func(t *testing.T) {
		engines.OnMySQL(t, func(cfg *mysql.Config) {
			cfg.InterpolateParams, cfg.ParseTime = true, true
			cfg.Params["autocommit"] = "0"
		}, parallel(test))
	})
}

// onThree leaves out the odd sessions.
func onThree(t *testing.T, test func(t *testing.T, db *engine)) { engines.OnEvery(t, parallel(test)) }

func onMySQL(t *testing.T, test func(t *testing.T, db *engine)) {
	engines.OnMySQL(t, nil, parallel(test))
}

func openSQLite(t *testing.T) *engine { return &engine{engines.SQLite(t)} }

func openPostgres(t *testing.T) *engine { return &engine{engines.Postgres(t)} }

// config configures a backfill of the table orders, with the leases in the same database.
func (db *engine) config(t testing.TB) backfill.Config {
	t.Helper()
	store, err := sqlstore.New(db.DB, sqlstore.Config{})
	must(t, err)
	return backfill.Config{Dialect: db.Dialect, Table: "orders", CreatedAt: "created_at", Store: store}
}

// run executes statements. {time} is the type of a timestamp with a zone, {key} that of a key with a counter.
func (db *engine) run(t testing.TB, statements ...string) {
	t.Helper()
	words := strings.NewReplacer(map[ddl.Dialect][]string{
		ddl.Postgres: {"{time}", "timestamptz", "{key}", "bigserial PRIMARY KEY"},
		ddl.MySQL:    {"{time}", "datetime(6)", "{key}", "bigint AUTO_INCREMENT PRIMARY KEY"},
		ddl.SQLite:   {"{time}", "datetime", "{key}", "INTEGER PRIMARY KEY"},
	}[db.Dialect]...)
	for _, s := range statements {
		db.Run(t, words.Replace(s))
	}
}

// fill runs a backfill that must give ids to so many rows, and to so many that refer to them.
func (db *engine) fill(t testing.TB, cfg backfill.Config, rows, referring int64) backfill.Result {
	t.Helper()
	result, err := backfill.Run(t.Context(), db.DB, cfg)
	if err != nil || result.Rows != rows || result.Referring != referring {
		t.Errorf("%+v, %v, want %d rows and %d that refer to them", result, err, rows, referring)
	}
	return result
}
