package orms

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/label"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/line"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/order"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type entStore struct {
	client *db.Client
	mysql  bool
}

// creating is held while ent creates tables: it writes to variables of the generated package.
var creating sync.Mutex

func openEnt(t *testing.T, on *database, src source) store {
	dialect := map[ddl.Dialect]string{ddl.Postgres: dialect.Postgres, ddl.MySQL: dialect.MySQL, ddl.SQLite: dialect.SQLite}[on.Dialect]
	client := db.NewClient(db.Driver(entsql.OpenDB(dialect, on.DB)))
	client.Use(entkey.Keys(src))
	creating.Lock()
	err := client.Schema.Create(t.Context())
	creating.Unlock()
	must(t, err)
	return entStore{client, on.Dialect == ddl.MySQL}
}

// The hook sets the keys of all rows.
func (s entStore) Insert(ctx context.Context, orders []shop.Order) error {
	tx, err := s.client.Tx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	for i := range orders {
		o := &orders[i]
		row, err := create(tx.Order, *o).Save(ctx)
		if err != nil {
			return err
		}
		o.ID = row.ID
		lines, err := tx.Line.MapCreateBulk(o.Lines, func(row *db.LineCreate, i int) {
			row.SetOrderID(o.ID).SetSku(o.Lines[i].SKU)
			if id := o.Lines[i].ID; id != 0 {
				row.SetID(id)
			}
		}).Save(ctx)
		if err != nil {
			return err
		}
		for i, l := range lines {
			o.Lines[i].ID, o.Lines[i].OrderID = l.ID, l.OrderID
		}
	}
	return tx.Commit()
}

func create(orders *db.OrderClient, o shop.Order) *db.OrderCreate {
	row := orders.Create().SetNumber(o.Number).SetCustomer(o.Customer)
	if o.ID != 0 {
		row.SetID(o.ID)
	}
	if o.ParentID.Valid {
		row.SetParentID(o.ParentID.Key)
	}
	return row
}

func (s entStore) Upsert(ctx context.Context, o *shop.Order) error {
	put := create(s.client.Order, *o).OnConflictColumns(order.FieldNumber).
		Update(func(row *db.OrderUpsert) { row.UpdateCustomer() })
	if !s.mysql {
		id, err := put.ID(ctx)
		o.ID = id
		return err
	}
	if err := put.Exec(ctx); err != nil {
		return err
	}
	id, err := s.client.Order.Query().Where(order.Number(o.Number)).OnlyID(ctx)
	o.ID = id
	return err
}

func (s entStore) Orders(ctx context.Context, keys []shop.OrderKey) (orders []shop.Order, err error) {
	rows, err := s.client.Order.Query().Where(order.IDIn(keys...)).
		WithLines(func(q *db.LineQuery) { q.Order(line.ByID()) }).
		Order(order.ByID()).All(ctx)
	for _, row := range rows {
		o := shop.Order{ID: row.ID, Number: row.Number, Customer: row.Customer}
		if row.ParentID != nil {
			o.ParentID = shop.NullOrderKey{Key: *row.ParentID, Valid: true}
		}
		for _, l := range row.Edges.Lines {
			o.Lines = append(o.Lines, shop.Line{ID: l.ID, OrderID: l.OrderID, SKU: l.Sku})
		}
		orders = append(orders, o)
	}
	return orders, err
}

func (s entStore) Roots(ctx context.Context) ([]shop.OrderKey, error) {
	return s.client.Order.Query().Where(order.ParentIDIsNil()).Order(order.ByID()).IDs(ctx)
}

func (s entStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	return s.client.Order.Get(ctx, key)
}

func (s entStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	return s.client.List.Create().SetID(id).SetIds(ids).Exec(ctx)
}

func (s entStore) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	rows, err := s.client.List.Query().Where(func(s *entsql.Selector) {
		s.Where(entsql.ExprP("$1 = ANY(ids)", id))
	}).All(ctx)
	return converted(rows, func(l *db.List) []sqltype.ID { return l.Ids }), err
}

// In a table of the mixin, a forgotten key is an error of the database.
func TestEntForgottenKey(t *testing.T) {
	onEvery(t, func(t *testing.T, on *database) {
		openEnt(t, on, nil)
		if err := on.Try("INSERT INTO orders (number, customer) VALUES ('A-1', 'Ada')"); err == nil || !strings.Contains(err.Error(), "id") {
			t.Error(err)
		}
	})
}

// MySQL and MariaDB have no RETURNING for ent, which then believes of numbers that the database counted
// them. The extension prevents that.
func TestEntBulkOnMySQL(t *testing.T) {
	engines.OnMySQL(t, nil, func(t *testing.T, on *database) {
		s := openEnt(t, on, databases.Generator(t, 1)).(entStore)
		ctx := t.Context()
		o := s.client.Order.Create().SetNumber("A-1").SetCustomer("Ada").SaveX(ctx)
		note := s.client.Label.Create().SetText("fragile").SaveX(ctx)
		lines := s.client.Line.CreateBulk(
			s.client.Line.Create().SetOrderID(o.ID).SetSku("tea"),
			s.client.Line.Create().SetOrderID(o.ID).SetSku("cup").AddLabels(note),
		).SaveX(ctx)
		if got := ints(t, on, "SELECT id FROM order_lines ORDER BY id"); len(got) != 2 || lines[0].ID.Int64() != got[0] || lines[1].ID.Int64() != got[1] {
			t.Errorf("the rows have %d, their structs %d and %d", got, lines[0].ID, lines[1].ID)
		}
		if got := ints(t, on, "SELECT line_labels FROM labels"); len(got) != 1 || got[0] != lines[1].ID.Int64() {
			t.Errorf("the label is of line %d, want %d", got, lines[1].ID)
		}
		if found, err := lines[1].QueryLabels().Where(label.Text("fragile")).Only(ctx); err != nil || found.ID != note.ID {
			t.Errorf("%v, %v", found, err)
		}
		id, err := s.client.Order.Create().SetNumber("A-1").SetCustomer("Ann").OnConflictColumns(order.FieldNumber).
			Update(func(row *db.OrderUpsert) { row.UpdateCustomer() }).ID(ctx)
		if err == nil || !strings.Contains(err.Error(), "Exec instead") {
			t.Errorf("ID of an upsert is %d, %v", id, err)
		}
	})
}

// UpdateNewValues keeps the key of the row. ent's own option does not: it would take the row from its
// children.
func TestEntUpdateNewValues(t *testing.T) {
	s := openEnt(t, openSQLite(t), databases.Generator(t, 1)).(entStore)
	ctx := t.Context()
	first := s.client.Order.Create().SetNumber("A-1").SetCustomer("Ada").SaveX(ctx)
	again := func() *db.OrderCreate { return s.client.Order.Create().SetNumber("A-1").SetCustomer("Ann") }
	if id, err := again().OnConflictColumns(order.FieldNumber).UpdateNewValues().ID(ctx); err != nil || id != first.ID {
		t.Errorf("%d, %v, want %d", id, err, first.ID)
	}
	if id, err := again().OnConflictColumns(order.FieldNumber).Ignore().ID(ctx); err != nil || id != first.ID {
		t.Errorf("%d, %v, want %d", id, err, first.ID)
	}
	if id, err := again().OnConflictColumns(order.FieldNumber).DoNothing().ID(ctx); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("%d, %v; the documents say sql.ErrNoRows", id, err)
	}
	if id, err := again().OnConflict(entsql.ConflictColumns(order.FieldNumber), entsql.ResolveWithNewValues()).ID(ctx); err != nil || id == first.ID {
		t.Errorf("%d, %v; the documents say that the key changes", id, err)
	}
}
