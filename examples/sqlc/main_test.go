package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // testserver.Database

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/db"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/key"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestRun(t *testing.T) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	for times := range 2 { // the tables may have rows already
		var out bytes.Buffer
		if err := run(t.Context(), gen, &out, dsn); err != nil {
			t.Fatal(err)
		}
		first, text, _ := strings.Cut(out.String(), "\n")
		if want := fmt.Sprintf("%d orders of the last hour, 1 after the first; put again, it keeps its key: true", 2*(1+times)); first != want {
			t.Errorf("%s, want %s", first, want)
		}
		var got struct {
			Lines    []struct{ ID, OrderID string }
			Replaced []struct {
				ID         string
				ReplacedBy *string
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Lines) != 3 || len(got.Replaced) != 2 {
			t.Fatalf("%v in\n%s", err, text)
		}
		if r := got.Replaced; r[0].ReplacedBy == nil || *r[0].ReplacedBy != r[1].ID || r[1].ReplacedBy != nil || got.Lines[0].OrderID != r[0].ID || !strings.HasPrefix(got.Lines[0].ID, "line_") {
			t.Errorf("%s", text)
		}
	}
	if err := run(t.Context(), gen, io.Discard, "postgres://u:secret@127.0.0.1:1/x"); err == nil || !strings.Contains(err.Error(), "-dsn: ") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
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
	if err := insert(t.Context(), pool, orders); err != nil {
		t.Fatal(err)
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
			if err := insert(t.Context(), pool, []order{bad}); err == nil {
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
	shown, err := os.ReadFile("../../docs/sql.md")
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
		t.Errorf("docs/sql.md shows what is not in sqlc.yaml:\n%s", block)
	}
}
