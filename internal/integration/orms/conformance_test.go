package orms

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A store is what a library does with orders and their lines, in the way that the documents
// recommend.
type store interface {
	// Insert writes rows in one transaction, and sets the keys of those that have none.
	Insert(ctx context.Context, orders []shop.Order) error
	// Upsert writes an order, or the customer of the one that has its number, and sets its key to that
	// of the row.
	Upsert(ctx context.Context, order *shop.Order) error
	// Orders reads orders with their lines, by the order of keys.
	Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error)
	// Roots finds the orders that have no parent.
	Roots(ctx context.Context) ([]shop.OrderKey, error)
	// Row reads the library's own struct of an order.
	Row(ctx context.Context, key shop.OrderKey) (any, error)
}

// A lister is a store that writes arrays of ids to the table lists.
type lister interface {
	InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error
	ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error)
}

type database = engines.Engine

// A conformer opens a library's store on a database, and creates its tables.
type conformer struct {
	name  string
	open  func(t *testing.T, db *database, src source) store
	plain bool // it has no types of its own for keys: their text is decimal
}

type source = sqltype.Source

var must = engines.Must

var conformers = []conformer{
	{name: "ent", open: openEnt},
	{name: "bun", open: openBun},
	{name: "sqlc", open: openSqlc, plain: true},
	{name: "sqlx", open: openSqlx},
}

// Every library writes and reads the same rows on every database.
func TestConformance(t *testing.T) {
	for _, c := range conformers {
		onEvery(t, func(t *testing.T, db *database) {
			t.Parallel()
			t.Run(c.name, func(t *testing.T) { c.conform(t, db, c.open(t, db, databases.Generator(t, 1))) })
		})
	}
}

// onEvery runs a test on an empty database of every engine, with foreign keys.
func onEvery(t *testing.T, test func(t *testing.T, db *database)) {
	t.Run("sqlite", func(t *testing.T) { test(t, openSQLite(t)) })
	engines.OnServers(t, test)
}

func openSQLite(t *testing.T) *database { return engines.SQLite(t, "&_pragma=foreign_keys(1)") }

// tables creates those of the file for sqlc, for a library that creates none.
func tables(t *testing.T, db *database) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("sqlcshop", string(db.Dialect), "schema.sql"))
	must(t, err)
	db.Run(t, strings.Split(strings.TrimSuffix(strings.TrimSpace(string(text)), ";"), ";")...)
}

// ints reads one number per row.
func ints(t *testing.T, db *database, query string) (list []int64) {
	t.Helper()
	for _, line := range db.Lines(t, query) {
		n, err := strconv.ParseInt(line, 10, 64)
		must(t, err)
		list = append(list, n)
	}
	return list
}

func (c conformer) conform(t *testing.T, db *database, s store) {
	ctx := t.Context()
	text := func(key shop.OrderKey) string {
		if c.plain {
			return key.ID().String()
		}
		return key.String()
	}
	orders := []shop.Order{
		{Number: "A-1", Customer: "Ada", Lines: []shop.Line{{SKU: "tea"}, {SKU: "cup"}}},
		{ID: 1<<63 - 1, Number: "A-2", Customer: "Bob", Lines: []shop.Line{{SKU: "jam"}}},
	}
	must(t, s.Insert(ctx, orders))
	first := orders[0].ID

	t.Run("keys are set", func(t *testing.T) {
		if _, err := core.Twitter().Decode(first.Int64()); err != nil || first < 1<<53 || orders[1].ID != 1<<63-1 {
			t.Errorf("%d, %v; %d", first, err, orders[1].ID)
		}
		for _, o := range orders {
			for _, l := range o.Lines {
				if l.ID < 1<<53 || l.OrderID != o.ID {
					t.Errorf("%+v of %d", l, o.ID)
				}
			}
		}
		if stored := ints(t, db, "SELECT id FROM orders ORDER BY id"); !slices.Equal(stored, []int64{first.Int64(), 1<<63 - 1}) {
			t.Errorf("%d", stored)
		}
	})

	t.Run("parents and children", func(t *testing.T) {
		got, err := s.Orders(ctx, []shop.OrderKey{orders[1].ID, 5, first})
		if err != nil || !reflect.DeepEqual(got, orders) {
			t.Errorf("%+v, %v, want %+v", got, err, orders)
		}
	})

	t.Run("one transaction", func(t *testing.T) {
		taken := orders[0].Lines[0].ID
		for name, bad := range map[string][]shop.Order{
			"a key twice":        {{Number: "B-1", Lines: []shop.Line{{SKU: "pen"}, {ID: taken, SKU: "ink"}}}},
			"a number twice":     {{Number: "B-1", Lines: []shop.Line{{SKU: "pen"}}}, {Number: "A-1"}},
			"a negative key":     {{ID: -5, Number: "B-1", Lines: []shop.Line{{SKU: "pen"}}}},
			"a negative child":   {{Number: "B-1", Lines: []shop.Line{{ID: -5, SKU: "pen"}}}},
			"no parent with key": {{Number: "B-1", ParentID: shop.NullOrderKey{Key: 5, Valid: true}, Lines: []shop.Line{{SKU: "pen"}}}},
		} {
			if err := s.Insert(ctx, bad); err == nil {
				t.Errorf("%s: no error", name)
			}
			if n := ints(t, db, "SELECT count(*) FROM orders UNION ALL SELECT count(*) FROM order_lines"); !slices.Equal(n, []int64{2, 3}) {
				t.Errorf("%s: %d rows", name, n)
			}
		}
	})

	t.Run("NULL", func(t *testing.T) {
		parts := []shop.Order{{Number: "C-1", Customer: "Cyd", ParentID: shop.NullOrderKey{Key: first, Valid: true}, Lines: []shop.Line{{SKU: "hat"}}}}
		must(t, s.Insert(ctx, parts))
		if got, err := s.Orders(ctx, []shop.OrderKey{parts[0].ID}); err != nil || !reflect.DeepEqual(got, parts) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := s.Roots(ctx); err != nil || !slices.Equal(got, []shop.OrderKey{first, 1<<63 - 1}) {
			t.Errorf("%d, %v", got, err)
		}
		if n := ints(t, db, "SELECT parent_id FROM orders WHERE number = 'C-1'"); !slices.Equal(n, []int64{first.Int64()}) {
			t.Errorf("%d", n)
		}
		got := rowJSON(t, s, parts[0].ID)
		if got.ID != text(parts[0].ID) || got.ParentID == nil || *got.ParentID != text(first) {
			t.Errorf("%+v", got)
		}
	})

	t.Run("JSON", func(t *testing.T) {
		if got := rowJSON(t, s, first); got.ID != text(first) || got.ParentID != nil {
			t.Errorf("%+v, want %s", got, text(first))
		}
	})

	t.Run("upsert", func(t *testing.T) {
		again := shop.Order{Number: "A-1", Customer: "Ann"}
		if err := s.Upsert(ctx, &again); err != nil || again.ID != first {
			t.Errorf("%d, %v, want the row's key %d", again.ID, err, first)
		}
		offered := shop.Order{ID: 7, Number: "A-1", Customer: "Amy"}
		if err := s.Upsert(ctx, &offered); err != nil || offered.ID != first {
			t.Errorf("%d, %v, want the row's key %d", offered.ID, err, first)
		}
		fresh := shop.Order{Number: "D-1", Customer: "Dan"}
		if err := s.Upsert(ctx, &fresh); err != nil || fresh.ID < 1<<53 || fresh.ID == first {
			t.Errorf("%d, %v, want a new key", fresh.ID, err)
		}
		want := orders[0]
		want.Customer = "Amy"
		if got, err := s.Orders(ctx, []shop.OrderKey{first, fresh.ID}); err != nil || !reflect.DeepEqual(got, []shop.Order{want, fresh}) {
			t.Errorf("%+v, %v", got, err)
		}
	})

	if db.Dialect == ddl.Postgres {
		t.Run("arrays", func(t *testing.T) {
			s := s.(lister)
			ids := []sqltype.ID{1<<63 - 1, 7, first.ID()}
			must(t, errors.Join(s.InsertList(ctx, 1, ids), s.InsertList(ctx, 2, []sqltype.ID{8})))
			if got, err := s.ListsWith(ctx, first.ID()); err != nil || !reflect.DeepEqual(got, [][]sqltype.ID{ids}) {
				t.Errorf("%d, %v", got, err)
			}
			if err := s.InsertList(ctx, 3, []sqltype.ID{7, -5}); err == nil {
				t.Error("-5 was written")
			}
		})
	}
}

type orderJSON struct {
	ID       string  `json:"id"`
	ParentID *string `json:"parent_id"`
}

// rowJSON reads a library's struct of an order from its JSON. A number is an error.
func rowJSON(t *testing.T, s store, key shop.OrderKey) (order orderJSON) {
	t.Helper()
	row, err := s.Row(t.Context(), key)
	must(t, err)
	b, err := json.Marshal(row)
	if err == nil {
		err = json.Unmarshal(b, &order)
	}
	if err != nil {
		t.Errorf("%s: %v", b, err)
	}
	return order
}
