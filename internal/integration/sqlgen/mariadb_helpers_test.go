package sqlgen

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// mariaOrders is the generator of most tests of MariaDB.
var mariaOrders = ddl.Generator{Dialect: ddl.MySQL, Namespace: "orders"}

// mariaClock lets a session set the generator's clock by @shift, in milliseconds.
var mariaClock = []string{"UNIX_TIMESTAMP(SYSDATE(3)) * 1000", "UNIX_TIMESTAMP(SYSDATE(3)) * 1000 + COALESCE(@shift, 0)"}

// mariaSession opens one session, and not a pool: what is left of a block is a session's.
func mariaSession(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	db.SetConnMaxLifetime(0)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// mariaDatabase returns a session in a new database on the shared server, and its DSN.
func mariaDatabase(t testing.TB) (*sql.DB, string) {
	t.Helper()
	server := testserver.MariaDB(t)
	if server.External() {
		t.Skip("not a MariaDB of this test's own")
	}
	dsn := testserver.Database(t, "mysql", server.DSN)
	return mariaSession(t, dsn), dsn
}

func mariaRun(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// mariaCreate runs the script of a generator, each old text replaced by the new one after it.
func mariaCreate(t testing.TB, db *sql.DB, g ddl.Generator, oldnew ...string) {
	t.Helper()
	for _, statement := range script(t)(g.Create()) {
		mariaRun(t, db, strings.NewReplacer(oldnew...).Replace(statement))
	}
}

// mariaTable creates a table whose id is made by the generator.
func mariaTable(t testing.TB, db *sql.DB, g ddl.Generator, name string) {
	t.Helper()
	mariaRun(t, db, "CREATE TABLE "+name+" (id BIGINT PRIMARY KEY, v INT) ENGINE=InnoDB")
	mariaRun(t, db, script(t)(g.SetDefault("id", name))...)
}

// mariaOne returns the single value of a query.
func mariaOne[T any](t testing.TB, db *sql.DB, query string, args ...any) (value T) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// mariaAll returns the values of a query.
func mariaAll(t testing.TB, db *sql.DB, query string) []int64 {
	t.Helper()
	values, err := mariaValues(t, db, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return values
}

func mariaValues(t testing.TB, db *sql.DB, query string) (values []int64, err error) {
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var value int64
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, rows.Err()
}

// mariaRefused runs a statement, which must fail with this text.
func mariaRefused(t testing.TB, db *sql.DB, want, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	var of *mysql.MySQLError
	if !errors.As(err, &of) || !strings.Contains(of.Message, want) {
		t.Errorf("%s: %v; want %q", statement, err, want)
	}
}

const (
	mariaNext = "SELECT snowkey_next('orders')"
	mariaMany = "SELECT snowkey_next('orders') FROM seq_1_to_3000"
)
