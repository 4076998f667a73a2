package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// usual are the defaults of the flags, at a fixed time.
func usual(db string) options {
	return options{db: db, by: "day", keep: 5, ahead: 3, rows: 1000, worker: 1, now: time.Now()}
}

func call(t *testing.T, opt options) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	err = run(t.Context(), &text, opt)
	return text.String(), err
}

// The second call continues with the table. With a shorter time to keep it drops the oldest.
func TestContinues(t *testing.T) {
	for name, dsn := range map[string]string{"postgres": testserver.NewPostgres(t).DSN, "mariadb": testserver.NewMariaDB(t).DSN} {
		t.Run(name, func(t *testing.T) {
			opt := usual(dsn)
			opt.rows, opt.keep, opt.ahead = 500, 4, 2
			out, err := call(t, opt)
			if err != nil || !strings.Contains(out, "CREATE TABLE IF NOT EXISTS snowkey_partitioned") || !strings.Contains(out, "\n0 partitions are older") {
				t.Fatalf("%v\n%s", err, out)
			}
			if n := orders(t, out); n != 1000 {
				t.Errorf("%d orders, want 1000:\n%s", n, out)
			}
			opt.rows, opt.keep, opt.ahead = 200, 2, 3
			out, err = call(t, opt)
			if err != nil || strings.Contains(out, "CREATE TABLE IF NOT EXISTS snowkey_partitioned") || !strings.Contains(out, "\n2 partitions are older") {
				t.Fatalf("%v\n%s", err, out)
			}
			if n := orders(t, out); n != 1200 {
				t.Errorf("%d orders, want 1200:\n%s", n, out)
			}
			opt.rows = 1
			out, err = call(t, opt)
			if n := orders(t, out); err != nil || n >= 1201 || n < 700 || strings.Contains(out, "PARTITION OF") || strings.Contains(out, "ADD PARTITION") {
				t.Errorf("%d orders, %v\n%s", n, err, out)
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

func TestPeriods(t *testing.T) {
	for by, db := range map[string]string{"week": testserver.NewPostgres(t).DSN, "month": testserver.NewMariaDB(t).DSN} {
		opt := usual(db)
		opt.by = by
		if out, err := call(t, opt); err != nil || orders(t, out) != 2000 {
			t.Errorf("%s: %v\n%s", by, err, out)
		}
	}
}

// It continues after a process that ended after CREATE TABLE, or between two partitions.
func TestContinuesAfterAnInterruption(t *testing.T) {
	opt := usual(testserver.NewPostgres(t).DSN)
	opt.rows = 100
	db, _, err := open(opt.db)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+table+` (id bigint NOT NULL PRIMARY KEY, note varchar(100) NOT NULL) PARTITION BY RANGE ("id")`); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{200, 300} {
		if out, err := call(t, opt); err != nil || orders(t, out) != want {
			t.Fatalf("call %d: %v\n%s", i, err, out)
		}
	}
	if _, err := db.ExecContext(t.Context(), "DROP TABLE "+table+opt.now.UTC().AddDate(0, 0, 2).Format("_p20060102")); err != nil {
		t.Fatal(err)
	}
	if out, err := call(t, opt); err != nil || orders(t, out) != 400 || strings.Count(out, "PARTITION OF") != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
}

// More periods may be kept than there are since the epoch.
func TestKeepsMoreThanThereIs(t *testing.T) {
	opt := usual(testserver.NewPostgres(t).DSN)
	opt.by, opt.keep, opt.rows = "month", 1000, 300
	if out, err := call(t, opt); err != nil || orders(t, out) != 600 || !strings.Contains(out, "_p201011 ") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestBadArguments(t *testing.T) {
	const none = "postgres://u:secret@127.0.0.1:1/x"
	for _, c := range []struct {
		opt  options
		want string
	}{
		{options{none, "year", 1, 1, 1, 1, time.Now()}, "year"},
		{options{none, "day", 0, 1, 1, 1, time.Now()}, "-keep 0: want 1 to 100000"},
		{options{none, "day", 1, 100_001, 1, 1, time.Now()}, "-ahead 100001"},
		{options{none, "day", 1, 1, -1, 1, time.Now()}, "-rows -1"},
		{options{none, "day", 1, 1, 1, 1024, time.Now()}, "-worker 1024: core: Worker 1024"},
		{options{none, "day", 1, 1, 1, 1, time.Now()}, "refused"},
		{options{"u:secret@tcp(127.0.0.1:1)/x", "day", 1, 1, 1, 1, time.Now()}, "refused"},
		{options{"u:secret@tcp(127.0.0.1:1)/x?parseTime=maybe", "day", 1, 1, 1, 1, time.Now()}, "-db: invalid bool value"},
		{options{"orders.sqlite", "day", 1, 1, 1, 1, time.Now()}, "-db: invalid DSN"},
		{options{testserver.NewPostgres(t).DSN, "month", 1, 1000, 1, 1, time.Now()}, `ddl: partitions of "snowkey_partitioned": snowkey_partitioned_p208007`},
	} {
		t.Run(c.want, func(t *testing.T) {
			out, err := call(t, c.opt)
			if err == nil || out != "" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q\n%s", err, c.want, out)
			}
		})
	}
}

// A table whose last partition has no end, or that has a default one, holds rows of the
// periods that are to have partitions. They get them, with the rows.
func TestRowsInTheWay(t *testing.T) {
	began := time.Now()
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
		{"mariadb open", testserver.NewMariaDB(t).DSN, table + " PARTITION (" + tomorrow.Format("p20060102") + ")", []string{create + " (PARTITION low VALUES LESS THAN (0), PARTITION pmax VALUES LESS THAN MAXVALUE)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, _, err := open(c.dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, statement := range append(c.script, fmt.Sprintf("INSERT INTO %s VALUES (%d, 'in the way')", table, id)) {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			opt := usual(c.dsn)
			opt.rows, opt.now = 100, began
			out, err := call(t, opt)
			if err != nil || orders(t, out) != 101 {
				t.Fatalf("%v\n%s", err, out)
			}
			var n int
			if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT count(*) FROM %s WHERE id = %d", c.at, id)).Scan(&n); err != nil || n != 1 {
				t.Errorf("%d rows, %v\n%s", n, err, out)
			}
		})
	}
}
