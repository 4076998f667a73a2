package backfill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite"
	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// patience is the timeout of what must happen, on a busy machine.
const patience = 3 * time.Minute

// engine is one empty database, which another process can open too.
type engine struct {
	*sql.DB
	dialect ddl.Dialect
	dsn     string
}

// onEvery runs a test on an empty database of every engine. The sessions are far from UTC.
func onEvery(t *testing.T, test func(t *testing.T, db *engine)) {
	t.Helper()
	onThree(t, test)
	t.Run("mysql, interpolated, autocommit off", func(t *testing.T) { t.Parallel(); onMySQL(t, true, test) })
}

// onThree leaves out the odd sessions.
func onThree(t *testing.T, test func(t *testing.T, db *engine)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, openSQLite(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, openPostgres(t)) })
	t.Run("mysql", func(t *testing.T) { t.Parallel(); onMySQL(t, false, test) })
}

func openSQLite(t *testing.T) *engine {
	t.Helper()
	return open(t, ddl.SQLite, "sqlite", "file:"+filepath.Join(t.TempDir(), "test.sqlite")+"?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(0)&_txlock=immediate")
}

func openPostgres(t *testing.T) *engine {
	t.Helper()
	u, err := url.Parse(testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	must(t, err)
	query := u.Query()
	query.Set("timezone", "Asia/Kolkata")
	u.RawQuery = query.Encode()
	return open(t, ddl.Postgres, "pgx", u.String())
}

// onMySQL runs a test on each server, with a driver and a session that are at their defaults or
// far from them.
func onMySQL(t *testing.T, odd bool, test func(t *testing.T, db *engine)) {
	t.Helper()
	for i, server := range testserver.MySQLs(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			cfg, err := mysql.ParseDSN(testserver.Database(t, "mysql", server.DSN))
			must(t, err)
			cfg.Params = map[string]string{"time_zone": "'+05:30'"}
			if odd {
				cfg.InterpolateParams, cfg.ParseTime = true, true
				cfg.Params["autocommit"] = "0"
			}
			test(t, open(t, ddl.MySQL, "mysql", cfg.FormatDSN()))
		})
	}
}

func open(t *testing.T, dialect ddl.Dialect, driver, dsn string) *engine {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return &engine{db, dialect, dsn}
}

// store opens a lease store in the database, as another process would.
func (db *engine) store(t testing.TB) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(db.DB, sqlstore.Config{})
	must(t, err)
	return s
}

// config is that of a backfill of the table orders.
func (db *engine) config(t testing.TB) backfill.Config {
	t.Helper()
	return backfill.Config{Dialect: db.dialect, Table: "orders", CreatedAt: "created_at", Store: db.store(t)}
}

// run executes statements, each in its own transaction. {time} is the type of a timestamp with a zone, {key} that
// of a key with a counter.
func (db *engine) run(t testing.TB, statements ...string) {
	t.Helper()
	words := map[ddl.Dialect][]string{
		ddl.Postgres: {"{time}", "timestamptz", "{key}", "bigserial PRIMARY KEY"},
		ddl.MySQL:    {"{time}", "datetime(6)", "{key}", "bigint AUTO_INCREMENT PRIMARY KEY"},
		ddl.SQLite:   {"{time}", "datetime", "{key}", "INTEGER PRIMARY KEY"},
	}[db.dialect]
	for _, s := range statements {
		s = strings.NewReplacer(words...).Replace(s)
		if err := db.exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// exec executes a statement in a transaction, because autocommit may be off.
func (db *engine) exec(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, statement); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// read returns the rows of a query, as the texts of their fields.
func (db *engine) read(t testing.TB, query string) (all [][]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		row, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		must(t, rows.Scan(into...))
		var texts []string
		for _, field := range row {
			texts = append(texts, field.String)
		}
		all = append(all, texts)
	}
	must(t, rows.Err())
	return all
}

// one returns the only field of a query.
func (db *engine) one(t testing.TB, query string) string {
	t.Helper()
	rows := db.read(t, query)
	if len(rows) != 1 || len(rows[0]) != 1 {
		t.Fatalf("%s: %v", query, rows)
	}
	return rows[0][0]
}

// expect compares the fields of queries.
func (db *engine) expect(t testing.TB, want string, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if got := db.one(t, q); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
