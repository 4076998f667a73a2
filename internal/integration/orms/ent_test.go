package orms

import (
	"context"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/line"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/order"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type entStore struct {
	client *db.Client
	mysql  bool
}

func openEnt(t *testing.T, on *database, src source) store {
	dialect := map[ddl.Dialect]string{ddl.Postgres: dialect.Postgres, ddl.MySQL: dialect.MySQL, ddl.SQLite: dialect.SQLite}[on.Dialect]
	client := db.NewClient(db.Driver(entsql.OpenDB(dialect, on.DB)))
	client.Use(entkey.Keys(src))
	must(t, client.Schema.Create(t.Context()))
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
