package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// The tests' servers do not sync.
var leases = sqlstore.Config{Table: "quickstart_worker", AllowDataLoss: true}

func call(t *testing.T, in, db string) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	err = run(t.Context(), &text, in, db, leases)
	return text.String(), err
}

func TestDefaultRun(t *testing.T) {
	out, err := call(t, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"SO-10360  Leslie Tanaka  1      59.90", "└ worker 0", "quickstart_customers: 109 rows, INSERTs: 1\n",
		"quickstart_orders: 360 rows, INSERTs: 3\n", "quickstart_order_lines: 950 rows, INSERTs: 14\n",
		"Written: 1419 rows by 18 INSERTs in one transaction",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	_, text, _ := strings.Cut(out, "strings.\n")
	text, _, _ = strings.Cut(text, "\n")
	var row map[string]any
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, id := range []string{"id", "customerId"} {
		if s, ok := row[id].(string); !ok || len(s) < 18 {
			t.Errorf("%s is %v, not a string", id, row[id])
		}
	}
}

// A second run over the same file skips what is there, on every database.
func TestRunsOnEveryDatabase(t *testing.T) {
	for name, dsn := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a name with % and ?.sqlite") },
		"postgres": func(t *testing.T) string { return testserver.Postgres(t).DSN },
		"mysql":    func(t *testing.T) string { return testserver.MariaDB(t).DSN },
	} {
		t.Run(name, func(t *testing.T) {
			db := dsn(t)
			in := write(t, strings.ReplaceAll(goodCSV, "SO-", t.Name()+"-"))
			for run, want := range []string{"Written: 7 rows by 3 INSERTs", "Skipped: 2 orders"} {
				if out, err := call(t, in, db); err != nil || !strings.Contains(out, want) {
					t.Fatalf("run %d: %v\n%s, want %q", run, err, out, want)
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
		{"no UTF-8", edit("Ada", "Ad\xff"), "must be UTF-8"},
		{"control character", edit("Ada", "Ad\x1b[31m"), "without control characters"},
		{"NUL", edit("Ada", "Ad\x00"), "without control characters"},
		{"space at the end", edit("SO-1", "SO-1 "), "begin or end with a space"},
		{"year 0", edit("2026-", "0000-"), "want a time"},
		{"quantity too large", edit(",1,", ",1000001,"), "from 1 to 1000000"},
		{"price over the limit", edit("0.05", "1000000.00"), "at most 999999.99"},
		{"case twins", goodCSV + strings.Replace(row, "SO-1", "so-1", 1) + "\n", "began on line 2"},
		{"two names", goodCSV + strings.NewReplacer("SO-1", "SO-9", "Ada", "Eve").Replace(row) + "\n", `customer "Eve": differs from "Ada" <ada@example.com>`},
		{"semicolons", strings.ReplaceAll(goodCSV, ",", ";"), "in.csv:1: the columns are"},
		{"other customer", edit("ada@", "eve@"), `differs from "Ada" <ada@example.com>`},
		{"other time", edit("08:00", "09:00"), "differs from line 2"},
		{"scattered order", goodCSV + row + "\n", `order "SO-1": began on line 2`},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "x.sqlite")
			if out, err := call(t, write(t, c.csv), db); err == nil || out != "" || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q\n%s", err, c.want, out)
			}
			if _, err := os.Stat(db); !os.IsNotExist(err) {
				t.Errorf("a database was made: %v", err)
			}
		})
	}
}

func TestBadArguments(t *testing.T) {
	notSQLite := filepath.Join(t.TempDir(), "text.sqlite")
	if err := os.WriteFile(notSQLite, bytes.Repeat([]byte("this is no database\n"), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, db, want string }{
		{"/no/such/file.csv", "", "/no/such/file.csv: no such file"},
		{t.TempDir(), "", "is a directory"},
		{"", "postgres://127.0.0.1/x?user=u&password=secret&port=1", "refused"},
		{"", "postgres://127.0.0.1:port/x?password=secret", "-db: "},
		{"", "host=127.0.0.1 password=secret dbname=x", "-db: invalid DSN"},
		{"", "oracle://u:secret@x/y", "-db: "},
		{"", "orders", "-db: invalid DSN"},
		{"", "postgres://u:secret@127.0.0.1:1/x?connect_timeout=2", "refused"},
		{"", "u:secret@tcp(127.0.0.1:1)/x", "refused"},
		{"", "u:secret@tcp(127.0.0.1:1)/x?parseTime=maybe", "invalid bool value"},
		{"", "/no/such/folder/x.sqlite", "-db: open /no/such/folder/x.sqlite: no such file or directory"},
		{"", notSQLite, "-db: file is not a database"},
	} {
		t.Run(c.in+c.db, func(t *testing.T) {
			out, err := call(t, c.in, c.db)
			if err == nil || out != "" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q\n%s", err, c.want, out)
			}
		})
	}
}

// A server that takes the connection and says nothing can be interrupted.
func TestInterruptedWhileConnecting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, dsn := range []string{"u@tcp(" + l.Addr().String() + ")/x", "postgres://u@" + l.Addr().String() + "/x"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, io.Discard, "", dsn, leases) }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: no error", dsn)
			}
		case <-time.After(3 * time.Minute):
			t.Fatalf("%s: it is not interrupted", dsn)
		}
	}
}

// A report that cannot be written is no success.
func TestLostOutput(t *testing.T) {
	if err := run(t.Context(), full{}, "", "", leases); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Error(err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A byte order mark, quotes around the names, and CRLF are what spreadsheets write.
func TestSpreadsheetCSV(t *testing.T) {
	header, rest, _ := strings.Cut(goodCSV, "\n")
	text := "\ufeff\"" + strings.ReplaceAll(header, ",", "\",\"") + "\"\n" + rest
	out, err := call(t, write(t, strings.ReplaceAll(text, "\n", "\r\n")), "")
	if err != nil || !strings.Contains(out, "Written: 7 rows") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A load that fails at its last line writes nothing, and a second one everything.
func TestAllOrNothing(t *testing.T) {
	in, db := write(t, goodCSV), filepath.Join(t.TempDir(), "x.sqlite")
	if _, err := call(t, in, db); err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite", db)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	exec := func(statement string) {
		if _, err := pool.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TRIGGER refuse BEFORE INSERT ON quickstart_order_lines WHEN NEW.sku = 'Z' BEGIN SELECT RAISE(ABORT, 'refused'); END")
	var b strings.Builder
	b.WriteString(goodCSV)
	for i := range 3000 {
		fmt.Fprintf(&b, "NO-%d,2026-11-21T08:00:00Z,Ada,ada@example.com,A,A,1,0.05\n", i)
	}
	b.WriteString("NO-Z,2026-11-21T08:00:00Z,Eve,eve@example.com,Z,Z,1,0.05\n")
	in = write(t, b.String())
	if _, err := call(t, in, db); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Fatal(err)
	}
	var rows int
	if err := pool.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM quickstart_orders) + (SELECT count(*) FROM quickstart_customers)").Scan(&rows); err != nil || rows != 4 {
		t.Errorf("%d rows, %v", rows, err)
	}
	exec("DROP TRIGGER refuse")
	if out, err := call(t, in, db); err != nil || !strings.Contains(out, "Written: 6003 rows") || !strings.Contains(out, "Skipped: 2 orders") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, io.Discard, "", "", leases); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Error(err)
	}
}
