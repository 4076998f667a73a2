package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func call(t *testing.T, in, db string) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	err = run(t.Context(), &text, in, db, sqlstore.Config{Table: "quickstart_lease"})
	return text.String(), err
}

func TestDefaultRun(t *testing.T) {
	out, err := call(t, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"SO-10360", "└ machine 0", "quickstart_customers: 109 rows, INSERTs: 1\n",
		"quickstart_orders: 360 rows, INSERTs: 2\n", "quickstart_order_lines: 950 rows, INSERTs: 7\n",
		"Written: 1419 rows by 10 INSERTs in one transaction",
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

const header = "order,placed_at,customer,email,sku,product,quantity,unit_price\n"

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A file is loaded once into every database. The second time the numbers of the orders are there, so
// nothing is written.
func TestRunsOnEveryDatabase(t *testing.T) {
	for name, dsn := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "shop.sqlite") },
		"postgres": func(t *testing.T) string { return testserver.Database(t, "pgx", testserver.Postgres(t).DSN) },
		"mysql": func(t *testing.T) string {
			dsn := testserver.Database(t, "mysql", testserver.MariaDB(t).DSN)
			return dsn + string("?&"[strings.Count(dsn, "?")]) + "parseTime=true"
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := dsn(t)
			in := write(t, "\ufeff"+header+`SO-1,2026-11-21T08:00:00Z,Ada,ada@example.com,A,"A, the first",1,0.05
SO-1,2026-11-21T08:00:00Z,Ada,ada@example.com,B,B,2,12.50
SO-2,2026-11-21T09:00:00+01:00,Bob,bob@example.com,A,A,1,0.05
`)
			if out, err := call(t, in, db); err != nil || !strings.Contains(out, "Written: 7 rows by 3 INSERTs") {
				t.Fatalf("%v\n%s", err, out)
			}
			if out, err := call(t, in, db); err == nil || out != "" {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// An error is one line that names the place, shows no password, and leaves no database behind.
func TestErrors(t *testing.T) {
	row := "SO-1,2026-11-21T08:00:00Z,Ada,ada@example.com,A,A,1,0.05\n"
	edit := func(old, by string) string { return write(t, header+row+strings.Replace(row, old, by, 1)) }
	sqlite := filepath.Join(t.TempDir(), "x.sqlite")
	for _, c := range []struct{ name, in, db, want string }{
		{"empty", write(t, ""), sqlite, "in.csv: no orders"},
		{"other header", write(t, "a,b,c,d,e,f,g,h\n1,2,3,4,5,6,7,8\n"), sqlite, "in.csv:1: the columns"},
		{"quantity", edit(",1,", ",1.5,"), sqlite, `in.csv:3: quantity "1.5": want a whole number`},
		{"price", edit("0.05", "0.055"), sqlite, `unit_price "0.055": want an amount like 12.50`},
		{"time", edit("2026-11-21T08:00:00Z", "yesterday"), sqlite, `in.csv:3: placed_at "yesterday"`},
		{"empty field", edit("Ada", ""), sqlite, `customer "": must not be empty`},
		{"no file", "/no/such/file.csv", sqlite, "/no/such/file.csv: no such file"},
		{"no server", "", "postgres://u:secret@127.0.0.1:1/x?connect_timeout=2", "refused"},
		{"no folder", "", "/no/such/folder/x.sqlite", "-db: open /no/such/folder/x.sqlite: no such file or directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, err := call(t, c.in, c.db); err == nil || out != "" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q\n%s", err, c.want, out)
			}
			if _, err := os.Stat(sqlite); !os.IsNotExist(err) {
				t.Errorf("a database was made: %v", err)
			}
		})
	}
}
