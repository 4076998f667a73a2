package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/db"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// database is an empty one on the shared server.
func database(t *testing.T, name string) (dsn string) {
	t.Helper()
	server := testserver.Postgres(t)
	conn, err := pgx.Connect(t.Context(), server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := conn.Exec(context.Background(), `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
		_ = conn.Close(context.Background())
	})
	if _, err := conn.Exec(t.Context(), `CREATE DATABASE `+name); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = name
	return u.String()
}

func TestPrivateServer(t *testing.T) {
	testserver.Postgres(t) // or skip
	code, out, errs := call(t)
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"started for this run: 1000 orders by a batch, 3000 lines by COPY", "read back in 3 pages", "\n1000 orders have ids", "keeps its key: true"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not tell %q:\n%s", want, out)
		}
	}
	type row struct {
		ID         string
		ReplacedBy *string
	}
	var rows []row
	_, text, _ := strings.Cut(out, "\n{")
	for dec := json.NewDecoder(strings.NewReader("{" + text)); dec.More(); {
		rows = append(rows, row{})
		if err := dec.Decode(&rows[len(rows)-1]); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
	}
	if len(rows) != 4 || rows[2].ReplacedBy != nil || rows[3].ReplacedBy == nil {
		t.Fatalf("%+v", rows)
	}
	for _, text := range []string{rows[0].ID, rows[3].ID, *rows[3].ReplacedBy} {
		if id, err := sqltype.Parse(text); err != nil || id < 1<<53 {
			t.Errorf("%q: %v, or small", text, err)
		}
	}
}

// The tables may be there, with the rows of a run before; and there may be no line.
func TestTwice(t *testing.T) {
	dsn := database(t, "sqlc_twice")
	if code, _, errs := call(t, "-dsn", dsn); code != 1 || !strings.Contains(errs, "fsync") { // the test's server does none
		t.Fatalf("exit %d, %s", code, errs)
	}
	for _, args := range [][]string{{"-orders", "1", "-lines", "0"}, {"-orders", "500", "-lines", "0"}, {"-orders", "401", "-lines", "1"}, {"-orders", "400"}} {
		code, out, errs := call(t, append([]string{"-dsn", dsn, "-allow-lossy"}, args...)...)
		if code != 0 || errs != "" || !strings.Contains(out, "at the given address: "+args[1]+" orders") || !strings.Contains(out, "\n"+args[1]+" orders have ids") {
			t.Errorf("%q: exit %d, %s\n%s", args, code, errs, out)
		}
	}
}

// Ids of every size go through the batch and COPY unchanged; and what fails leaves nothing.
func TestAllOrNothing(t *testing.T) {
	pool, err := connect(t.Context(), database(t, "sqlc_nothing"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	var orders []order
	for i, id := range []sqltype.ID{1, 1<<53 + 1, 1996573624012345677, 1<<63 - 1} {
		orders = append(orders, order{
			db.InsertOrdersParams{ID: id, Number: id.String(), Customer: "Ada", Replaces: sqltype.NullID{ID: id, Valid: i%2 == 0}},
			[]db.InsertLinesParams{{ID: id, OrderID: id, Sku: "tea", Cents: -1}},
		})
	}
	if n, err := insert(t.Context(), pool, orders); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	check := func() {
		t.Helper()
		rows, lines := read(t, pool)
		if len(rows) != 4 || len(lines) != 4 {
			t.Fatalf("%d orders, %d lines, want 4 and 4", len(rows), len(lines))
		}
		for i, o := range orders {
			if o.Replaces.ID = rows[i].Replaces.ID; rows[i] != db.Order(o.InsertOrdersParams) || lines[i] != db.Line(o.lines[0]) {
				t.Errorf("%+v, %+v came back for %+v", rows[i], lines[i], o)
			}
		}
	}
	check()
	for what, bad := range map[string]order{
		"order twice": {db.InsertOrdersParams{ID: 1, Number: "x"}, nil},
		"line twice":  {db.InsertOrdersParams{ID: 2, Number: "x"}, []db.InsertLinesParams{{ID: 3, OrderID: 2}, {ID: 1, OrderID: 2}}},
		"no order":    {db.InsertOrdersParams{ID: 2, Number: "x"}, []db.InsertLinesParams{{ID: 3, OrderID: 4}}},
		"negative":    {db.InsertOrdersParams{ID: -2, Number: "x"}, nil},
		"COPY of one": {db.InsertOrdersParams{ID: 2, Number: "x"}, []db.InsertLinesParams{{ID: -3, OrderID: 2}}},
	} {
		t.Run(what, func(t *testing.T) {
			if _, err := insert(t.Context(), pool, []order{bad}); err == nil {
				t.Errorf("%s: no error", what)
			}
			check()
		})
	}
}

func read(t *testing.T, pool *pgxpool.Pool) ([]db.Order, []db.Line) {
	t.Helper()
	q := db.New(pool)
	rows, err := q.PageOfOrders(t.Context(), db.PageOfOrdersParams{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	var ids []sqltype.ID
	for _, o := range rows {
		ids = append(ids, o.ID)
	}
	lines, err := q.LinesOf(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := q.CountLines(t.Context()); err != nil || n != int64(len(lines)) {
		t.Errorf("%d lines, %v; want %d", n, err, len(lines))
	}
	return rows, lines
}

// One of the rows is lost, or altered: the report says which.
func TestReportSeesChanges(t *testing.T) {
	pool, err := connect(t.Context(), database(t, "sqlc_changes"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		"DELETE FROM lines WHERE id = (SELECT max(id) FROM lines)",
		"UPDATE lines SET id = id + 1 WHERE id = (SELECT max(id) FROM lines)",
		"UPDATE orders SET replaces = id WHERE id = (SELECT min(id) FROM orders)",
		"DELETE FROM lines; DELETE FROM orders",
	} {
		t.Run(change, func(t *testing.T) {
			if _, err := pool.Exec(t.Context(), "DROP TABLE IF EXISTS lines; DROP TABLE IF EXISTS orders;"+schema); err != nil {
				t.Fatal(err)
			}
			orders, err := draft(t.Context(), gen, options{orders: 2, lines: 2})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := insert(t.Context(), pool, orders); err != nil {
				t.Fatal(err)
			}
			if _, err := pool.Exec(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := report(t.Context(), pool, gen, orders, &out); err == nil || out.Len() > 0 {
				t.Errorf("%s: %v\n%s", change, err, out.String())
			}
		})
	}
}

// A query that db does not have, or has under another kind, means that go generate was
// forgotten.
func TestGenerated(t *testing.T) {
	names := func(files ...string) (found []string) {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, regexp.MustCompile(`-- name: \w+ :\w+`).FindAllString(string(text), -1)...)
		}
		slices.Sort(found)
		return found
	}
	want := names("query.sql")
	want = slices.DeleteFunc(want, func(q string) bool { return strings.HasSuffix(q, ":copyfrom") }) // has no SQL
	if got := names("db/query.sql.go", "db/batch.go"); len(want) < 5 || !slices.Equal(got, want) {
		t.Errorf("db has %q, query.sql %q: go generate ./examples/sqlc", got, want)
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-orders", "0"}, 2, "-orders 0: want 1 to 100000"},
		{[]string{"-orders", "100001"}, 2, "-orders 100001"},
		{[]string{"-lines", "-1"}, 2, "-lines -1: want 0 to 10"},
		{[]string{"-lines", "11"}, 2, "-lines 11"},
		{[]string{"-lines", "many"}, 2, "-lines"},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"x"}, 2, `unexpected argument "x"`},
		{[]string{"-dsn", "postgres://u:secret@127.0.0.1:1/x"}, 1, "-dsn: "},
		{[]string{"-dsn", "postgres://u:secret@127.0.0.1:x/x"}, 1, "-dsn: "},
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

// The overrides that the documents show are those of this example.
func TestDocumentsShowTheOverrides(t *testing.T) {
	shown, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("sqlc.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(shown), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	var flat strings.Builder // without comments and indents
	for line := range strings.Lines(string(config)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			flat.WriteString(line + "\n")
		}
	}
	var want strings.Builder
	for line := range strings.Lines(block) {
		want.WriteString(strings.TrimSpace(line) + "\n")
	}
	if !found || !strings.Contains(flat.String(), want.String()) {
		t.Errorf("docs/tools.md shows what is not in sqlc.yaml:\n%s", block)
	}
}
