package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/key"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/line"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/orm/entkey"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// databases are empty, and named as -db has them.
func databases(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"sqlite":   filepath.Join(t.TempDir(), "shop %.sqlite"),
		"postgres": postgres(t, "ent_"+strings.ToLower(strings.TrimPrefix(t.Name(), "Test"))),
	}
}

// postgres is an empty database on the shared server.
func postgres(t *testing.T, name string) (dsn string) {
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

func TestInMemory(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), &out, "", false)
	if got := summary(decode(t, out.String())); err != nil || got != shop {
		t.Errorf("%v\n%s", err, &out)
	}
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

type noIDs struct{}

var errNoIDs = errors.New("no ids")

func (noIDs) Next(context.Context) (int64, error) { return 0, errNoIDs }

func (noIDs) Fill(context.Context, []int64) error { return errNoIDs }

// The database refuses a row without a key; with the hook each row has one. A key that is set
// stays, and an error of the source is an error of the create.
func TestKeys(t *testing.T) {
	for name, dsn := range databases(t) {
		t.Run(name, func(t *testing.T) {
			c := client(t, dsn)
			if o, err := c.Order.Create().SetCustomer("Ada").Save(t.Context()); err == nil || !strings.Contains(strings.ToLower(err.Error()), "null") {
				t.Errorf("without a key: %v, %v", o, err)
			}
			gen := generator(t)
			c.Use(entkey.Keys(gen))
			first, err := c.Order.Create().SetCustomer("Ada").Save(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			const set key.Order = 1996573624012345677
			if o, err := c.Order.Create().SetID(set).SetCustomer("Bob").Save(t.Context()); err != nil || o.ID != set {
				t.Errorf("%v, %v", o, err)
			}
			bulk, err := c.Line.CreateBulk(c.Line.Create().SetOrderID(set).SetSku("tea"), c.Line.Create().SetOrder(first).SetSku("cup")).Save(t.Context())
			if err != nil || bulk[0].ID <= first.ID.ID() || bulk[1].ID <= bulk[0].ID || bulk[1].OrderID != first.ID {
				t.Errorf("%v, %v after %d", bulk, err, first.ID)
			}
			ids, err := c.Order.Query().IDs(t.Context())
			slices.Sort(ids)
			if err != nil || !slices.Equal(ids, []key.Order{set, first.ID}) {
				t.Errorf("%v, %v", ids, err)
			}
			failing := client(t, dsn)
			failing.Use(entkey.Keys(noIDs{}))
			if o, err := failing.Order.Create().SetCustomer("Cyd").Save(t.Context()); !errors.Is(err, errNoIDs) || !strings.Contains(err.Error(), "Order") {
				t.Errorf("%v, %v", o, err)
			}
			if n := failing.Order.Query().CountX(t.Context()); n != 2 {
				t.Errorf("%d orders, want 2", n)
			}
		})
	}
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

func TestBetween(t *testing.T) {
	c, gen := client(t, ""), generator(t)
	c.Use(entkey.Keys(gen))
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, o := range []struct {
		name string
		at   core.Parts
	}{ // the greatest id of a millisecond, and the least of the next
		{"before", core.Parts{Time: noon.Add(-time.Millisecond), Datacenter: 31, Worker: 31, Sequence: 4095}},
		{"first", core.Parts{Time: noon}},
		{"last", core.Parts{Time: noon.Add(time.Hour - time.Millisecond), Datacenter: 31, Worker: 31, Sequence: 4095}},
		{"after", core.Parts{Time: noon.Add(time.Hour)}},
	} {
		t.Run(o.name, func(t *testing.T) {
			id, err := gen.Layout().Compose(o.at)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Order.Create().SetID(key.Order(id)).SetCustomer(o.name).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
	found, err := between(t.Context(), c, gen.Layout(), noon, noon.Add(time.Hour))
	if err != nil || len(found) != 2 || found[0].Customer != "first" || found[1].Customer != "last" {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := between(t.Context(), c, gen.Layout(), noon, noon.Add(-1)); err == nil {
		t.Error("backwards")
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
