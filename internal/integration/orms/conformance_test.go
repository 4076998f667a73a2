package orms

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
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

// A database is an empty one.
type database struct {
	kind string // postgres, mysql or sqlite
	dsn  string
	pool *sql.DB
}

// A conformer opens a library's store on a database, and creates its tables.
type conformer struct {
	name  string
	kinds []string
	open  func(t *testing.T, db database, src source) store
	plain bool // it has no types of its own for keys: their text is decimal
}

type source = sqltype.Source

var all = []string{"postgres", "mysql", "sqlite"}

var conformers = []conformer{
	{name: "ent", kinds: all, open: openEnt},
	{name: "bun", kinds: all, open: openBun},
	{name: "sqlc", kinds: all, open: openSqlc, plain: true},
	{name: "sqlx", kinds: all, open: openSqlx},
}

// Every library writes and reads the same rows on every database that it supports.
func TestConformance(t *testing.T) {
	for _, kind := range all {
		t.Run(kind, func(t *testing.T) {
			for i, dsn := range servers(t, kind) {
				for _, c := range conformers {
					if !slices.Contains(c.kinds, kind) {
						continue
					}
					t.Run(fmt.Sprintf("%s %d", c.name, i), func(t *testing.T) {
						t.Parallel()
						gen, err := core.New(core.Config{Worker: core.Fixed(1)})
						if err != nil {
							t.Fatal(err)
						}
						db := open(t, kind, dsn)
						c.conform(t, db, c.open(t, db, gen))
					})
				}
			}
		})
	}
}

// servers are the DSNs of all servers of a kind.
func servers(t *testing.T, kind string) (dsns []string) {
	switch kind {
	case "postgres":
		return []string{testserver.Postgres(t).DSN}
	case "mysql":
		for _, s := range testserver.MySQLs(t) {
			dsns = append(dsns, s.DSN)
		}
		return dsns
	}
	return []string{""}
}

// open makes an empty database on the server.
func open(t *testing.T, kind, dsn string) database {
	t.Helper()
	driver := map[string]string{"postgres": "pgx", "mysql": "mysql", "sqlite": "sqlite"}[kind]
	if kind == "sqlite" {
		dsn = "file:" + filepath.Join(t.TempDir(), "shop.sqlite") + "?_pragma=foreign_keys(1)&_pragma=synchronous(0)&_pragma=busy_timeout(600000)&_txlock=immediate"
	} else {
		dsn = testserver.Database(t, driver, dsn)
	}
	pool, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return database{kind, dsn, pool}
}

// tables creates those of the file for sqlc, for a library that creates none.
func (db database) tables(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("sqlcshop", db.kind, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(string(text)), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			db.exec(t, statement)
		}
	}
}

func (db database) exec(t *testing.T, query string) {
	t.Helper()
	if _, err := db.pool.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

// ints reads one number per row.
func (db database) ints(t *testing.T, query string) (list []int64) {
	t.Helper()
	rows, err := db.pool.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func (c conformer) conform(t *testing.T, db database, s store) {
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
	if err := s.Insert(ctx, orders); err != nil {
		t.Fatal(err)
	}
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
		if stored := db.ints(t, "SELECT id FROM orders ORDER BY id"); !slices.Equal(stored, []int64{first.Int64(), 1<<63 - 1}) {
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
			if n := db.ints(t, "SELECT count(*) FROM orders UNION ALL SELECT count(*) FROM order_lines"); !slices.Equal(n, []int64{2, 3}) {
				t.Errorf("%s: %d rows", name, n)
			}
		}
	})

	t.Run("NULL", func(t *testing.T) {
		parts := []shop.Order{{Number: "C-1", Customer: "Cyd", ParentID: shop.NullOrderKey{Key: first, Valid: true}, Lines: []shop.Line{{SKU: "hat"}}}}
		if err := s.Insert(ctx, parts); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Orders(ctx, []shop.OrderKey{parts[0].ID}); err != nil || !reflect.DeepEqual(got, parts) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := s.Roots(ctx); err != nil || !slices.Equal(got, []shop.OrderKey{first, 1<<63 - 1}) {
			t.Errorf("%d, %v", got, err)
		}
		if n := db.ints(t, "SELECT parent_id FROM orders WHERE number = 'C-1'"); !slices.Equal(n, []int64{first.Int64()}) {
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
			t.Errorf("%d, %v, want a key of its own", fresh.ID, err)
		}
		want := orders[0]
		want.Customer = "Amy"
		if got, err := s.Orders(ctx, []shop.OrderKey{first, fresh.ID}); err != nil || !reflect.DeepEqual(got, []shop.Order{want, fresh}) {
			t.Errorf("%+v, %v", got, err)
		}
	})

	if db.kind == "postgres" {
		t.Run("arrays", func(t *testing.T) {
			s := s.(lister)
			ids := []sqltype.ID{1<<63 - 1, 7, first.ID()}
			if err := errors.Join(s.InsertList(ctx, 1, ids), s.InsertList(ctx, 2, []sqltype.ID{8})); err != nil {
				t.Fatal(err)
			}
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
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(row)
	if err == nil {
		err = json.Unmarshal(b, &order)
	}
	if err != nil {
		t.Errorf("%s: %v", b, err)
	}
	return order
}
