package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // testserver.Database

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/db"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
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

// What fails leaves nothing: an order whose line refers to no order, and an order that is there twice.
func TestAllOrNothing(t *testing.T) {
	pool, err := connect(t.Context(), testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	one, two := db.InsertOrdersParams{ID: 1, Number: "x"}, db.InsertOrdersParams{ID: 1, Number: "y"}
	for _, orders := range [][]order{{{one, []db.InsertLinesParams{{ID: 3, OrderID: 4}}}}, {{one, nil}, {two, nil}}} {
		if err := insert(t.Context(), pool, orders); err == nil {
			t.Error("no error")
		}
	}
	if rows, err := db.New(pool).PageOfOrders(t.Context(), db.PageOfOrdersParams{Size: 9}); err != nil || len(rows) != 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}
