package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/examples/sqlc/db"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/key"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func call(t *testing.T, opt options) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	err = run(t.Context(), &text, opt)
	return text.String(), err
}

func TestRun(t *testing.T) {
	out, err := call(t, options{dsn: testserver.Database(t, "pgx", testserver.Postgres(t).DSN), lossy: true, orders: 1000, lines: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1000 orders by a batch, 3000 lines by COPY", "read back 1000 orders in 3 pages, and 3000 lines", "\n1000 orders of the last hour", "keeps its key: true"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
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

// Ids of every size go through the batch and COPY unchanged; and what fails leaves nothing.
func TestAllOrNothing(t *testing.T) {
	pool, err := connect(t.Context(), testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var orders []order
	for i, id := range []sqltype.ID{1, 1<<53 + 1, 1996573624012345677, 1<<63 - 1} {
		orders = append(orders, order{
			db.InsertOrdersParams{ID: id, Number: id.String(), Customer: "Ada", Replaces: sqltype.NullID{ID: id, Valid: i%2 == 0}},
			[]db.InsertLinesParams{{ID: key.Line(id), OrderID: id, Sku: "tea", Cents: -1}},
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
