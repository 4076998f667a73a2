package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/key"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/line"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// databases are empty, and named as -db has them.
func databases(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"sqlite":   filepath.Join(t.TempDir(), "shop.sqlite"),
		"postgres": testserver.Database(t, "pgx", testserver.Postgres(t).DSN),
	}
}

type orderJSON struct {
	ID, Customer string
	Edges        struct {
		Lines []struct{ ID, OrderID, SKU string }
	}
}

// decode reads what a run printed; every id is a text of its type, of the layout, and met once.
func decode(t *testing.T, out string) (orders []orderJSON) {
	t.Helper()
	seen := map[string]bool{}
	take := func(text string, id sqltype.ID, err error) {
		if err != nil || seen[text] {
			t.Errorf("%q: %v, or twice", text, err)
		}
		if _, err := core.Twitter().Decode(id.Int64()); err != nil || id < 1<<53 {
			t.Errorf("%d: %v, or small", id, err)
		}
		seen[text] = true
	}
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); {
		var o orderJSON
		if err := dec.Decode(&o); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		var order key.Order
		err := order.UnmarshalText([]byte(o.ID))
		take(o.ID, order.ID(), err)
		for _, l := range o.Edges.Lines {
			id, err := sqltype.Parse(l.ID)
			take(l.ID, id, err)
			if l.OrderID != o.ID {
				t.Errorf("line %+v in order %s", l, o.ID)
			}
		}
		orders = append(orders, o)
	}
	return orders
}

func summary(orders []orderJSON) (text string) {
	for _, o := range orders {
		text += o.Customer + ":"
		for _, l := range o.Edges.Lines {
			text += " " + l.SKU
		}
		text += "; "
	}
	return text
}

const shop = "Ada: tea cup a gift; Bob: jam; "

// The second time the tables exist, and the orders of the first are printed as well.
func TestTwice(t *testing.T) {
	for name, dsn := range databases(t) {
		t.Run(name, func(t *testing.T) {
			lossy := name == "postgres" // the test's server does not fsync
			if err := run(t.Context(), io.Discard, dsn, false); lossy && (err == nil || !strings.Contains(err.Error(), "fsync")) || !lossy && err != nil {
				t.Fatal(err)
			}
			if lossy {
				if err := run(t.Context(), io.Discard, dsn, true); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			err := run(t.Context(), &out, dsn, lossy)
			if got := summary(decode(t, out.String())); err != nil || got != shop+shop {
				t.Fatalf("%v\n%s", err, &out)
			}
		})
	}
}

func generator(t *testing.T) *core.Generator {
	t.Helper()
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	return gen
}

func client(t *testing.T, dsn string) *db.Client {
	t.Helper()
	c, _, err := open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// More rows than one INSERT takes; and what fails leaves nothing.
func TestAllOrNothing(t *testing.T) {
	for name, dsn := range databases(t) {
		t.Run(name, func(t *testing.T) {
			c, gen := client(t, dsn), generator(t)
			orders := make([]newOrder, atOnce+1)
			for i := range orders {
				orders[i] = newOrder{Customer: "Ada", Lines: []newLine{{SKU: "tea"}, {SKU: "cup"}}}
			}
			count := func() [2]int {
				return [2]int{c.Order.Query().CountX(t.Context()), c.Line.Query().Where(line.HasOrder()).CountX(t.Context())}
			}
			if err := insert(t.Context(), c, gen, orders); err != nil || count() != [2]int{atOnce + 1, 2 * (atOnce + 1)} {
				t.Fatalf("%v, %v", count(), err)
			}
			taken := orders[0].Lines[1].ID
			for _, bad := range []newOrder{
				{Customer: "Bob", Lines: []newLine{{SKU: "jam"}, {ID: taken, SKU: "twice"}}},
				{Customer: "Bob", Lines: []newLine{{}}}, // a validator's
				{Customer: "Bob", Lines: []newLine{{ID: -1, SKU: "jam"}}},
			} {
				if err := insert(t.Context(), c, gen, []newOrder{bad}); err == nil || count() != [2]int{atOnce + 1, 2 * (atOnce + 1)} {
					t.Errorf("%+v: %v, %v", bad, count(), err)
				}
			}
		})
	}
}

func TestBadArguments(t *testing.T) {
	for dsn, want := range map[string]string{
		filepath.Join(t.TempDir(), "none", "x.sqlite"): "no such file or directory",
		"postgres://u:secret@127.0.0.1:1/x":            "refused",
		"postgres://u:secret@127.0.0.1:x/x":            "-db: ",
	} {
		if err := run(t.Context(), io.Discard, dsn, false); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
