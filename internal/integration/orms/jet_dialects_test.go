package orms

import (
	"context"
	"database/sql"
	"strings"

	"github.com/go-jet/jet/v2/mysql"
	"github.com/go-jet/jet/v2/sqlite"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/jetshop/public/model"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
)

// jetDialect has the statements in one of go-jet's dialects, which share no types of statements. The
// tables are written by hand here, and the models are those of PostgreSQL.
type jetDialect struct {
	insertOrders func(rows []model.Orders) mysql.Statement
	insertLines  func(rows []model.OrderLines) mysql.Statement
	upsert       func(row model.Orders) mysql.Statement
	keyOf        func(number string) mysql.Statement
	orders       func(keys []shop.OrderKey) mysql.Statement
	roots        func() mysql.Statement
}

func jetMySQL() jetDialect {
	id, number, customer, parent := mysql.IntegerColumn("id"), mysql.StringColumn("number"), mysql.StringColumn("customer"), mysql.IntegerColumn("parent_id")
	orders := mysql.NewTable("", "orders", "", id, number, customer, parent)
	lineID, orderID, sku := mysql.IntegerColumn("id"), mysql.IntegerColumn("order_id"), mysql.StringColumn("sku")
	lines := mysql.NewTable("", "order_lines", "", lineID, orderID, sku)
	return jetDialect{
		insertOrders: func(rows []model.Orders) mysql.Statement {
			return orders.INSERT(id, number, customer, parent).MODELS(rows)
		},
		insertLines: func(rows []model.OrderLines) mysql.Statement { return lines.INSERT(lineID, orderID, sku).MODELS(rows) },
		upsert: func(row model.Orders) mysql.Statement {
			return orders.INSERT(id, number, customer, parent).MODEL(row).ON_DUPLICATE_KEY_UPDATE(customer.SET(mysql.StringExp(mysql.Raw("VALUES(customer)"))))
		},
		keyOf: func(n string) mysql.Statement {
			return orders.SELECT(id).WHERE(number.EQ(mysql.String(n)))
		},
		orders: func(keys []shop.OrderKey) mysql.Statement {
			var list []mysql.Expression
			for _, k := range keys {
				list = append(list, mysql.Int64(k.Int64()))
			}
			return mysql.SELECT(id, number, customer, parent, lineID, orderID, sku).FROM(orders.LEFT_JOIN(lines, orderID.EQ(id))).
				WHERE(id.IN(list...)).ORDER_BY(id, lineID)
		},
		roots: func() mysql.Statement {
			return orders.SELECT(id).WHERE(parent.IS_NULL()).ORDER_BY(id)
		},
	}
}

func jetSQLite() jetDialect {
	id, number, customer, parent := sqlite.IntegerColumn("id"), sqlite.StringColumn("number"), sqlite.StringColumn("customer"), sqlite.IntegerColumn("parent_id")
	orders := sqlite.NewTable("", "orders", "", id, number, customer, parent)
	lineID, orderID, sku := sqlite.IntegerColumn("id"), sqlite.IntegerColumn("order_id"), sqlite.StringColumn("sku")
	lines := sqlite.NewTable("", "order_lines", "", lineID, orderID, sku)
	return jetDialect{
		insertOrders: func(rows []model.Orders) mysql.Statement {
			return orders.INSERT(id, number, customer, parent).MODELS(rows)
		},
		insertLines: func(rows []model.OrderLines) mysql.Statement { return lines.INSERT(lineID, orderID, sku).MODELS(rows) },
		upsert: func(row model.Orders) mysql.Statement {
			return orders.INSERT(id, number, customer, parent).MODEL(row).
				ON_CONFLICT(number).DO_UPDATE(sqlite.SET(customer.SET(sqlite.StringExp(sqlite.Raw("excluded.customer"))))).RETURNING(id)
		},
		orders: func(keys []shop.OrderKey) mysql.Statement {
			var list []sqlite.Expression
			for _, k := range keys {
				list = append(list, sqlite.Int64(k.Int64()))
			}
			return sqlite.SELECT(id, number, customer, parent, lineID, orderID, sku).FROM(orders.LEFT_JOIN(lines, orderID.EQ(id))).
				WHERE(id.IN(list...)).ORDER_BY(id, lineID)
		},
		roots: func() mysql.Statement {
			return orders.SELECT(id).WHERE(parent.IS_NULL()).ORDER_BY(id)
		},
	}
}

// trimmed drops the line end after a query. glebarez/go-sqlite takes it for one more query, which has
// no rows.
type trimmed struct{ *sql.DB }

func (db trimmed) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return db.DB.QueryContext(ctx, strings.TrimSpace(query), args...)
}

type jetOther struct {
	jetDialect
	db  trimmed
	src source
}

func (s jetOther) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := s.insertOrders(jetOrders(orders)).ExecContext(ctx, tx); err != nil {
		return err
	}
	if _, err := s.insertLines(jetLines(orders)).ExecContext(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s jetOther) Upsert(ctx context.Context, order *shop.Order) (err error) {
	one := []shop.Order{*order}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	var row model.Orders
	put := s.upsert(jetOrders(one)[0])
	if s.keyOf == nil {
		err = put.QueryContext(ctx, s.db, &row)
	} else if _, err = put.ExecContext(ctx, s.db); err == nil {
		err = s.keyOf(order.Number).QueryContext(ctx, s.db, &row)
	}
	order.ID = row.ID
	return err
}

func (s jetOther) Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error) {
	var rows []jetOrder
	err := s.orders(keys).QueryContext(ctx, s.db, &rows)
	return fromJet(rows), err
}

func (s jetOther) Roots(ctx context.Context) ([]shop.OrderKey, error) {
	var rows []model.Orders
	err := s.roots().QueryContext(ctx, s.db, &rows)
	return converted(rows, func(r model.Orders) shop.OrderKey { return r.ID }), err
}

func (s jetOther) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	var row model.Orders
	err := s.orders([]shop.OrderKey{key}).QueryContext(ctx, s.db, &row)
	return row, err
}
