package orms

import (
	"context"
	"database/sql"

	"github.com/go-jet/jet/v2/generator/metadata"
	"github.com/go-jet/jet/v2/generator/template"
	jet "github.com/go-jet/jet/v2/postgres"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/jetshop/public/model"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/jetshop/public/table"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// jetTypes makes each bigint of the generated models an id.
func jetTypes() template.Template {
	field := func(table metadata.Table, column metadata.Column) template.TableModelField {
		made := template.DefaultTableModelField(column).UseTags(`json:"` + column.Name + `"`)
		const keys = "github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop" // has the aliases
		switch {
		case column.DataType.Name != "int8":
		case column.DataType.Dimensions > 0:
			made.Type = template.NewType(shop.IDs{})
		case table.Name == "orders" && column.IsNullable:
			made.Type = template.Type{ImportPath: keys, Name: "shop.NullOrderKey"}
		case table.Name == "orders", column.Name == "order_id":
			made.Type = template.Type{ImportPath: keys, Name: "shop.OrderKey"}
		case column.IsNullable:
			made.Type = template.NewType(sqltype.NullID{})
		default:
			made.Type = template.NewType(sqltype.ID(0))
		}
		return made
	}
	return template.Default(jet.Dialect).UseSchema(func(schema metadata.Schema) template.Schema {
		return template.DefaultSchema(schema).UseModel(template.DefaultModel().UseTable(func(table metadata.Table) template.TableModel {
			return template.DefaultTableModel(table).UseField(func(column metadata.Column) template.TableModelField {
				return field(table, column)
			})
		}))
	})
}

type jetStore struct {
	db  *sql.DB
	src source
}

func (s jetStore) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := table.Orders.INSERT(table.Orders.AllColumns).MODELS(jetOrders(orders)).ExecContext(ctx, tx); err != nil {
		return err
	}
	if _, err := table.OrderLines.INSERT(table.OrderLines.AllColumns).MODELS(jetLines(orders)).ExecContext(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s jetStore) Upsert(ctx context.Context, order *shop.Order) error {
	one := []shop.Order{*order}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	var row model.Orders
	err := table.Orders.INSERT(table.Orders.AllColumns).
		MODEL(jetOrders(one)[0]).
		ON_CONFLICT(table.Orders.Number).DO_UPDATE(jet.SET(table.Orders.Customer.SET(table.Orders.EXCLUDED.Customer))).
		RETURNING(table.Orders.ID).QueryContext(ctx, s.db, &row)
	order.ID = row.ID
	return err
}

// jetOrder is an order with its lines, which go-jet groups.
type jetOrder struct {
	model.Orders
	Lines []model.OrderLines
}

func fromJet(rows []jetOrder) (orders []shop.Order) {
	for _, r := range rows {
		o := shop.Order{ID: r.ID, Number: r.Number, Customer: r.Customer, ParentID: r.ParentID}
		for _, l := range r.Lines {
			o.Lines = append(o.Lines, shop.Line{ID: l.ID, OrderID: l.OrderID, SKU: l.Sku})
		}
		orders = append(orders, o)
	}
	return orders
}

func jetOrders(orders []shop.Order) (rows []model.Orders) {
	for _, o := range orders {
		rows = append(rows, model.Orders{ID: o.ID, Number: o.Number, Customer: o.Customer, ParentID: o.ParentID})
	}
	return rows
}

func jetLines(orders []shop.Order) (rows []model.OrderLines) {
	for _, l := range shop.Lines(orders) {
		rows = append(rows, model.OrderLines{ID: l.ID, OrderID: l.OrderID, Sku: l.SKU})
	}
	return rows
}

// jetKeys are the keys in a condition, which takes no values of Go.
func jetKeys(keys []shop.OrderKey) (list []jet.Expression) {
	for _, k := range keys {
		list = append(list, jet.Int64(k.Int64()))
	}
	return list
}

func (s jetStore) Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error) {
	var rows []jetOrder
	err := jet.SELECT(table.Orders.AllColumns, table.OrderLines.AllColumns).
		FROM(table.Orders.LEFT_JOIN(table.OrderLines, table.OrderLines.OrderID.EQ(table.Orders.ID))).
		WHERE(table.Orders.ID.IN(jetKeys(keys)...)).
		ORDER_BY(table.Orders.ID, table.OrderLines.ID).QueryContext(ctx, s.db, &rows)
	return fromJet(rows), err
}

func (s jetStore) Roots(ctx context.Context) ([]shop.OrderKey, error) {
	var rows []model.Orders
	err := table.Orders.SELECT(table.Orders.ID).WHERE(table.Orders.ParentID.IS_NULL()).
		ORDER_BY(table.Orders.ID).QueryContext(ctx, s.db, &rows)
	return converted(rows, func(r model.Orders) shop.OrderKey { return r.ID }), err
}

func (s jetStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	var row model.Orders
	err := table.Orders.SELECT(table.Orders.AllColumns).WHERE(table.Orders.ID.EQ(jet.Int64(key.Int64()))).QueryContext(ctx, s.db, &row)
	return row, err
}

func (s jetStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	_, err := table.Lists.INSERT(table.Lists.AllColumns).MODEL(model.Lists{ID: id, Ids: ids}).ExecContext(ctx, s.db)
	return err
}

func (s jetStore) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	var rows []model.Lists
	err := table.Lists.SELECT(table.Lists.AllColumns).WHERE(jet.Int64(id.Int64()).EQ(jet.ANY(table.Lists.Ids))).QueryContext(ctx, s.db, &rows)
	return converted(rows, func(l model.Lists) []sqltype.ID { return l.Ids }), err
}
