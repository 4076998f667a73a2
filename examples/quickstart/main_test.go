package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// The tests' servers do not sync.
var leases = sqlstore.Config{Table: "quickstart_worker", AllowDataLoss: true}

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli(t.Context(), args, &out, &err, leases)
	return code, out.String(), err.String()
}

func TestDefaultRun(t *testing.T) {
	code, out, err := call(t)
	if code != 0 || err != "" {
		t.Fatalf("exit %d: %s", code, err)
	}
	for _, want := range []string{"360 orders, 950 lines", "SQLite in memory", "worker 0", "SO-10360", "└ worker 0", "statements/s"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not tell %q:\n%s", want, out)
		}
	}
	from, to := strings.Index(out, "\n[ "), strings.Index(out, " ]\n")
	if from < 0 || to < from {
		t.Fatalf("no JSON in:\n%s", out)
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out[from:to+2]), &rows); err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		for _, id := range []string{"id", "customerId"} {
			if s, ok := row[id].(string); !ok || len(s) < 18 {
				t.Errorf("%s is %v, not a string", id, row[id])
			}
		}
	}
}

// A second run over the same file skips what is there, on every database.
func TestRunsOnEveryDatabase(t *testing.T) {
	for name, dsn := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a name with % and ?.sqlite") },
		"postgres": func(t *testing.T) string { return testserver.Postgres(t).DSN },
		"mysql": func(t *testing.T) string {
			cfg, err := mysqldriver.ParseDSN(testserver.MariaDB(t).DSN)
			if err != nil {
				t.Fatal(err)
			}
			return (&url.URL{Scheme: "mysql", User: url.UserPassword(cfg.User, cfg.Passwd), Host: cfg.Addr, Path: "/" + cfg.DBName}).String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := dsn(t)
			in := write(t, strings.ReplaceAll(goodCSV, "SO-", t.Name()+"-"))
			for run, want := range []string{"Written: 2 customers, 2 orders, 3 lines", "Skipped: 2 orders"} {
				code, out, err := call(t, "-db", db, "-in", in)
				if code != 0 || !strings.Contains(out, want) {
					t.Fatalf("run %d: exit %d, %s%s, want %q", run, code, err, out, want)
				}
			}
		})
	}
}

const goodCSV = `order,placed_at,customer,email,sku,product,quantity,unit_price
SO-1,2026-11-21T08:00:00Z,Ada,ada@example.com,A,"A, the first",1,0.05
SO-1,2026-11-21T08:00:00Z,Ada,ada@example.com,B,B,2,12.50
SO-2,2026-11-21T09:00:00+01:00,Bob,bob@example.com,A,A,1,0.05
`

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Every fault is one line that names the place, and leaves no database behind.
func TestBadInput(t *testing.T) {
	header, row, _ := strings.Cut(goodCSV, "\n")
	row, _, _ = strings.Cut(row, "\n")
	edit := func(old, by string) string {
		return header + "\n" + row + "\n" + strings.Replace(row, old, by, 1) + "\n"
	}
	for _, c := range []struct {
		name, csv, want string
	}{
		{"empty", "", "in.csv: empty"},
		{"header only", header + "\n", "in.csv: no orders"},
		{"other header", "a,b,c,d,e,f,g,h\n", "in.csv:1: the columns"},
		{"too few fields", header + "\nSO-1,x\n", "in.csv:2: wrong number of fields"},
		{"open quote", header + "\n" + row + "\nSO-2,\"x\n\n\n", "in.csv:3: "},
		{"quantity", edit(",1,", ",1.5,"), `in.csv:3:64: quantity "1.5": want a whole number`},
		{"quantity zero", edit(",1,", ",0,"), `quantity "0"`},
		{"price", edit("0.05", "0.055"), `unit_price "0.055": want an amount like 12.50`},
		{"price of words", edit("0.05", "free"), `unit_price "free"`},
		{"price too large", edit("0.05", "99999999999999999999.00"), "unit_price"},
		{"time", edit("2026-11-21T08:00:00Z", "yesterday"), `in.csv:3:6: placed_at "yesterday"`},
		{"email", edit("ada@example.com", "Ada <ada@example.com>"), "email"},
		{"empty field", edit("Ada", ""), `customer "": must not be empty`},
		{"too long", edit("A, the first", strings.Repeat("x", 200)), "is longer than 190 characters"},
		{"order too long", edit("SO-1", strings.Repeat("9", 65)), "is longer than 64 characters"},
		{"a megabyte", edit("0.05", strings.Repeat("9", 1<<20)), `"…: is longer`},
		{"no UTF-8", edit("Ada", "Ad\xff"), "is not UTF-8"},
		{"control character", edit("Ada", "Ad\x1b[31m"), "has a control character"},
		{"NUL", edit("Ada", "Ad\x00"), "has a control character"},
		{"space at the end", edit("SO-1", "SO-1 "), "has a space at its"},
		{"year 0", edit("2026-", "0000-"), "want a time"},
		{"quantity too large", edit(",1,", ",1000001,"), "from 1 to 1000000"},
		{"price over the limit", edit("0.05", "1000000.00"), "at most 999999.99"},
		{"case twins", goodCSV + strings.Replace(row, "SO-1", "so-1", 1) + "\n", "goes on here"},
		{"two names", goodCSV + strings.NewReplacer("SO-1", "SO-9", "Ada", "Eve").Replace(row) + "\n", `customer "Eve": has the email of "Ada" <ada@example.com>`},
		{"semicolons", strings.ReplaceAll(goodCSV, ",", ";"), "in.csv:1: the columns are"},
		{"other customer", edit("ada@", "eve@"), "has another customer or time here than on line 2"},
		{"scattered order", goodCSV + row + "\n", `order "SO-1": goes on here but began on line 2`},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "x.sqlite")
			code, out, err := call(t, "-in", write(t, c.csv), "-db", db)
			if code != 1 || out != "" || strings.Count(err, "\n") != 1 || !strings.Contains(err, c.want) {
				t.Errorf("exit %d, stdout %q, stderr %q, want %q", code, out, err, c.want)
			}
			if _, err := os.Stat(db); !os.IsNotExist(err) {
				t.Errorf("a database was made: %v", err)
			}
		})
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-in", "/no/such/file.csv"}, 1, "/no/such/file.csv: no such file"},
		{[]string{"-in", t.TempDir()}, 1, "is a directory"},
		{[]string{"-db", "postgres://127.0.0.1/x?user=u&password=secret&port=1"}, 1, "password=xxxxx"},
		{[]string{"-db", "postgres://127.0.0.1:port/x?password=secret"}, 1, "password=xxxxx"},
		{[]string{"-db", "host=127.0.0.1 password=secret dbname=x"}, 1, "want postgres://"},
		{[]string{"-db", "MYSQL://u:sec%zzret@127.0.0.1/x"}, 1, "is not a URL"},
		{[]string{"-db", t.TempDir() + "/."}, 1, "want postgres://"},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"orders.csv"}, 2, `unexpected argument "orders.csv"`},
		{[]string{"-db", "orders"}, 1, `-db "orders": want postgres://`},
		{[]string{"-db", "oracle://x/y"}, 1, "want postgres://"},
		{[]string{"-db", "postgres://u:secret@127.0.0.1:1/x?connect_timeout=2"}, 1, `-db "postgres://u:xxxxx@127.0.0.1:1/x?connect_timeout=2": `},
		{[]string{"-db", "postgres://127.0.0.1:port/x"}, 1, "-db"},
		{[]string{"-db", "mysql://u:secret@127.0.0.1:1/x"}, 1, "refused"},
		{[]string{"-db", "mysql://127.0.0.1"}, 1, "want mysql://user"},
		{[]string{"-db", "mysql://127.0.0.1/x?parseTime=maybe"}, 1, "parseTime"},
		{[]string{"-db", "/no/such/folder/x.sqlite"}, 1, `-db "/no/such/folder/x.sqlite": no such file or directory`},
		{[]string{"-db", write(t, "not a database, but text that is long enough to be looked at")}, 1, "want postgres://"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			code, out, err := call(t, c.args...)
			if code != c.code || out != "" || strings.Count(err, "\n") != 1 || !strings.Contains(err, c.want) || strings.Contains(err, "secret") {
				t.Errorf("%q: exit %d, stdout %q, stderr %q; want exit %d and %q", c.args, code, out, err, c.code, c.want)
			}
		})
	}
	code, out, err := call(t, "-h")
	if code != 0 || err != "" || !strings.Contains(out, "usage:") {
		t.Errorf("-h: exit %d, %q", code, err)
	}
	notSQLite := filepath.Join(t.TempDir(), "text.sqlite")
	if err := os.WriteFile(notSQLite, bytes.Repeat([]byte("this is no database\n"), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, err := call(t, "-db", notSQLite); code != 1 || !strings.Contains(err, "text.sqlite") || strings.Count(err, "\n") != 1 {
		t.Errorf("a file that is no database: exit %d, %q", code, err)
	}
}

// A server that takes the connection and says nothing can be interrupted.
func TestInterruptedWhileConnecting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, scheme := range []string{"mysql", "postgres"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		ended := make(chan string, 1)
		go func() {
			var out, errs bytes.Buffer
			code := cli(ctx, []string{"-db", scheme + "://u@" + l.Addr().String() + "/x"}, &out, &errs, leases)
			ended <- fmt.Sprintf("exit %d: %s", code, errs.String())
		}()
		select {
		case got := <-ended:
			if !strings.HasPrefix(got, "exit 1: ") {
				t.Errorf("%s: %s", scheme, got)
			}
		case <-time.After(3 * time.Minute):
			t.Fatalf("%s: it is not interrupted", scheme)
		}
	}
}

// A report that cannot be written is no success.
func TestLostOutput(t *testing.T) {
	var errs bytes.Buffer
	if code := cli(t.Context(), nil, full{}, &errs, leases); code != 1 || !strings.Contains(errs.String(), "no space") {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A byte order mark, quotes around the names, and CRLF are what spreadsheets write.
func TestSpreadsheetCSV(t *testing.T) {
	header, rest, _ := strings.Cut(goodCSV, "\n")
	text := "\ufeff\"" + strings.ReplaceAll(header, ",", "\",\"") + "\"\n" + rest
	code, out, err := call(t, "-in", write(t, strings.ReplaceAll(text, "\n", "\r\n")))
	if code != 0 || !strings.Contains(out, "2 orders, 3 lines") {
		t.Errorf("exit %d, %s%s", code, out, err)
	}
}

// A run that is interrupted leaves whole orders only, and a second one goes on.
func TestInterrupted(t *testing.T) {
	var b strings.Builder
	b.WriteString(strings.SplitAfter(goodCSV, "\n")[0])
	for i := range 3000 {
		for range 3 {
			fmt.Fprintf(&b, "SO-%d,2026-11-21T08:00:00Z,Ada,ada@example.com,A,A,1,0.05\n", i)
		}
	}
	in, db := write(t, b.String()), filepath.Join(t.TempDir(), "x.sqlite")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errs bytes.Buffer
	watch := &cancelAtLoad{w: &out, cancel: cancel}
	if code := cli(ctx, []string{"-in", in, "-db", db}, watch, &errs, leases); code != 1 {
		t.Fatalf("exit %d: %s", code, out.String())
	}
	if strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "cancel") && !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("stderr %q", errs.String())
	}
	code, again, err := call(t, "-in", in, "-db", db)
	if code != 0 {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`(\d+) orders, (\d+) lines in`).FindStringSubmatch(again)
	if written == nil || written[2] != fmt.Sprint(3*atoi(written[1])) {
		t.Errorf("the second run wrote %v", written)
	}
}

// cancelAtLoad cancels at the first output, which is just before the load begins.
type cancelAtLoad struct {
	w      *bytes.Buffer
	cancel func()
}

func (c *cancelAtLoad) Write(p []byte) (int, error) { c.cancel(); return c.w.Write(p) }

func atoi(s string) (n int) { _, _ = fmt.Sscan(s, &n); return n }
