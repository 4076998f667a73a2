package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// oneDay lets the date not change while a test runs. The ids have times of their own,
// for which there is a partition ahead.
func oneDay(t *testing.T) (began time.Time) {
	t.Helper()
	began = time.Now()
	today = func() time.Time { return began }
	t.Cleanup(func() { today = time.Now })
	return began
}

// A second run goes on with the table, and with a shorter time to keep drops the oldest.
func TestRunsAgain(t *testing.T) {
	oneDay(t)
	servers := map[string]string{"postgres": testserver.NewPostgres(t).DSN}
	config, err := mysqldriver.ParseDSN(testserver.NewMariaDB(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	servers["mariadb"] = (&url.URL{Scheme: "mysql", User: url.User(config.User), Host: config.Addr, Path: config.DBName}).String()
	for name, dsn := range servers {
		t.Run(name, func(t *testing.T) {
			code, out, err := call(t, "-db", dsn, "-rows", "500", "-keep", "4", "-ahead", "2")
			if code != 0 || err != "" || !strings.Contains(out, "CREATE TABLE IF NOT EXISTS snowkey_partitioned") || !strings.Contains(out, "\n0 partitions are older") {
				t.Fatalf("exit %d, %s\n%s", code, err, out)
			}
			if n := orders(t, out); n != 1000 {
				t.Errorf("%d orders, want 1000:\n%s", n, out)
			}
			code, out, err = call(t, "-db", dsn, "-rows", "200", "-keep", "2", "-ahead", "3")
			if code != 0 || strings.Contains(out, "CREATE TABLE IF NOT EXISTS snowkey_partitioned") || !strings.Contains(out, "\n2 partitions are older") {
				t.Fatalf("exit %d, %s\n%s", code, err, out)
			}
			if n := orders(t, out); n != 1200 {
				t.Errorf("%d orders, want 1200:\n%s", n, out)
			}
			code, out, err = call(t, "-db", dsn, "-rows", "1", "-keep", "2", "-ahead", "3")
			if n := orders(t, out); code != 0 || n >= 1201 || n < 700 || strings.Contains(out, "PARTITION OF") || strings.Contains(out, "ADD PARTITION") {
				t.Errorf("%d orders, exit %d, %s\n%s", n, code, err, out)
			}
		})
	}
}

// orders sums up the orders of the listed partitions.
func orders(t *testing.T, out string) (sum int) {
	t.Helper()
	_, list, _ := strings.Cut(out, "  orders\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		var n int
		if len(words) != 3 {
			t.Fatalf("%q in\n%s", line, out)
		}
		if _, err := fmt.Sscan(words[2], &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// Without a database the example starts a server, in each period.
func TestStartsAServer(t *testing.T) {
	testserver.Postgres(t) // skips where there is none
	for _, args := range [][]string{nil, {"-by", "week"}, {"-by", "month", "-db", "mariadb"}} {
		code, out, err := call(t, args...)
		if code != 0 || err != "" || orders(t, out) != 2000 {
			t.Errorf("%q: exit %d, %s\n%s", args, code, err, out)
		}
	}
}

// A run that ended behind CREATE TABLE, or between two partitions, is gone on with.
func TestGoesOnWhereARunEnded(t *testing.T) {
	began := oneDay(t)
	server := testserver.NewPostgres(t)
	db, err := connector(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+table+` (id bigint NOT NULL PRIMARY KEY, note varchar(100) NOT NULL) PARTITION BY RANGE ("id")`); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{200, 300} {
		code, out, errs := call(t, "-db", server.DSN, "-rows", "100")
		if code != 0 || errs != "" || orders(t, out) != want {
			t.Fatalf("run %d: exit %d, %s\n%s", i, code, errs, out)
		}
	}
	if _, err := db.ExecContext(t.Context(), "DROP TABLE "+table+began.UTC().AddDate(0, 0, 2).Format("_p20060102")); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := call(t, "-db", server.DSN, "-rows", "100"); code != 0 || orders(t, out) != 400 || strings.Count(out, "PARTITION OF") != 1 {
		t.Fatalf("exit %d, %s\n%s", code, errs, out)
	}
}

// More periods may be kept than there are since the epoch.
func TestKeepsMoreThanThereIs(t *testing.T) {
	code, out, errs := call(t, "-by", "month", "-keep", "1000", "-rows", "300", "-db", testserver.NewPostgres(t).DSN)
	if code != 0 || errs != "" || orders(t, out) != 600 || !strings.Contains(out, "_p201011 ") {
		t.Errorf("exit %d, %s\n%s", code, errs, out)
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-by", "year"}, 2, `-by "year": want day, week or month`},
		{[]string{"-keep", "0"}, 2, "-keep 0: want 1 to 1000"},
		{[]string{"-ahead", "1001"}, 2, "-ahead 1001"},
		{[]string{"-rows", "-1"}, 2, "-rows -1"},
		{[]string{"-worker", "1024"}, 2, "-worker 1024: want 0 to 1023"},
		{[]string{"-db", "orders.sqlite"}, 2, `-db "orders.sqlite": want postgres://`},
		{[]string{"-db", "postgres://u:secret@127.0.0.1:1/x"}, 1, `-db "postgres://u:xxxxx@127.0.0.1:1/x"`},
		{[]string{"-db", "mysql://u:secret@127.0.0.1:1/x"}, 1, "refused"},
		{[]string{"-db", "mysql://u:secret@127.0.0.1"}, 1, "want mysql://user"},
		{[]string{"-db", "mysql://u:secret@127.0.0.1/x?parseTime=maybe"}, 1, "parseTime"},
		{[]string{"-db", "postgres://127.0.0.1:1/x?password=secret"}, 1, "password=xxxxx"},
		{[]string{"-db", "u:secret@tcp(h)/x"}, 2, `-db "…": want postgres://`},
		{[]string{"-db", "host=h password=secret"}, 2, `-db "…": want postgres://`},
		{[]string{"-db", "oracle://u:secret@h/x"}, 2, `-db "oracle://u:xxxxx@h/x": want postgres://`},
		{[]string{"-db", "oracle://u:secret@h/x?sslpassword=secret&password=secret#secret"}, 2, `x?password=xxxxx&sslpassword=xxxxx"`},
		{[]string{"-db", "oracle://h/x?password=secret;"}, 2, `-db "oracle://h/x": want`},
		{[]string{"-db", "mysql://u:sec%ret@h/secret"}, 1, `-db "mysql://…": is not a URL`},
		{[]string{"-db", "u:secret@tcp(h)/x?a=://%zz"}, 2, `-db "…": want postgres://`},
		{[]string{"-by", "month", "-ahead", "1000"}, 2, `-ahead 1000: ddl: partitions of "snowkey_partitioned": p208007`},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"x"}, 2, `unexpected argument "x"`},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			code, out, err := call(t, c.args...)
			if code != c.code || out != "" || strings.Count(err, "\n") != 1 || !strings.Contains(err, c.want) || strings.Contains(err, "secret") {
				t.Errorf("%q: exit %d, stdout %q, stderr %q; want exit %d and %q", c.args, code, out, err, c.code, c.want)
			}
		})
	}
	if code, out, err := call(t, "-h"); code != 0 || err != "" || !strings.Contains(out, "usage:") {
		t.Errorf("-h: exit %d, %q", code, err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A report that cannot be written is no success.
func TestLostOutput(t *testing.T) {
	testserver.Postgres(t)
	var errs bytes.Buffer
	if code := cli(t.Context(), nil, full{}, &errs); code != 1 || !strings.Contains(errs.String(), "no space") {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

// A table whose last partition has no end, or that has a default one, holds rows of the
// periods that are to have partitions. They get them, with the rows.
func TestRowsInTheWay(t *testing.T) {
	began := oneDay(t)
	config, err := mysqldriver.ParseDSN(testserver.NewMariaDB(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	maria := (&url.URL{Scheme: "mysql", User: url.User(config.User), Host: config.Addr, Path: config.DBName}).String()
	open := func(dsn string) *sql.DB {
		db, err := mysqlURL(dsn)
		if strings.HasPrefix(dsn, "postgres") {
			db, err = connector(dsn)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	tomorrow := began.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	id, err := core.Twitter().FirstAt(tomorrow)
	if err != nil {
		t.Fatal(err)
	}
	create := "CREATE TABLE " + table + " (id bigint NOT NULL PRIMARY KEY, note varchar(100) NOT NULL) PARTITION BY RANGE (id)"
	for _, c := range []struct {
		name, dsn, at string
		script        []string
	}{
		{"postgres default", testserver.NewPostgres(t).DSN, table + tomorrow.Format("_p20060102"), []string{create, "CREATE TABLE rest PARTITION OF " + table + " DEFAULT"}},
		{"postgres open", testserver.NewPostgres(t).DSN, table + tomorrow.Format("_p20060102"), []string{create, "CREATE TABLE pmax PARTITION OF " + table + " FOR VALUES FROM (0) TO (MAXVALUE)"}},
		{"mariadb open", maria, table + " PARTITION (" + tomorrow.Format("p20060102") + ")", []string{create + " (PARTITION low VALUES LESS THAN (0), PARTITION pmax VALUES LESS THAN MAXVALUE)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := open(c.dsn)
			for _, statement := range append(c.script, fmt.Sprintf("INSERT INTO %s VALUES (%d, 'in the way')", table, id)) {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			code, out, errs := call(t, "-db", c.dsn, "-rows", "100")
			if code != 0 || errs != "" || orders(t, out) != 101 {
				t.Fatalf("exit %d, %s\n%s", code, errs, out)
			}
			var n int
			if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT count(*) FROM %s WHERE id = %d", c.at, id)).Scan(&n); err != nil || n != 1 {
				t.Errorf("%d rows, %v\n%s", n, err, out)
			}
		})
	}
}
