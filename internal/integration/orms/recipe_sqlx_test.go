package orms

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// docs/sql.md links to this file.

// put is an upsert by the number, without the values.
func put(dialect ddl.Dialect) string {
	if dialect == ddl.MySQL {
		return "ON DUPLICATE KEY UPDATE customer = VALUES(customer)"
	}
	return "ON CONFLICT (number) DO UPDATE SET customer = excluded.customer"
}

func openSqlx(t *testing.T, db *database, src source) store {
	tables(t, db)
	driver := map[ddl.Dialect]string{ddl.Postgres: "pgx", ddl.MySQL: "mysql", ddl.SQLite: "sqlite"}[db.Dialect]
	return sqlxStore{sqlx.NewDb(db.DB, driver), src, db.Dialect}
}

type sqlxStore struct {
	db      *sqlx.DB
	src     source
	dialect ddl.Dialect
}

func (s sqlxStore) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := tx.NamedExecContext(ctx, "INSERT INTO orders (id, number, customer, parent_id) VALUES (:id, :number, :customer, :parent_id)", orders); err != nil {
		return err
	}
	if _, err := tx.NamedExecContext(ctx, "INSERT INTO order_lines (id, order_id, sku) VALUES (:id, :order_id, :sku)", shop.Lines(orders)); err != nil {
		return err
	}
	return tx.Commit()
}

func (s sqlxStore) Upsert(ctx context.Context, order *shop.Order) error {
	one := []shop.Order{*order}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	_, err := s.db.NamedExecContext(ctx, "INSERT INTO orders (id, number, customer, parent_id) VALUES (:id, :number, :customer, :parent_id) "+put(s.dialect), one[0])
	if err != nil {
		return err
	}
	return s.db.GetContext(ctx, &order.ID, s.db.Rebind("SELECT id FROM orders WHERE number = ?"), order.Number)
}

func (s sqlxStore) Orders(ctx context.Context, keys []shop.OrderKey) (orders []shop.Order, err error) {
	query, args, err := sqlx.In("SELECT * FROM orders WHERE id IN (?) ORDER BY id", keys)
	if err != nil {
		return nil, err
	}
	if err := s.db.SelectContext(ctx, &orders, s.db.Rebind(query), args...); err != nil {
		return nil, err
	}
	query, args, err = sqlx.In("SELECT * FROM order_lines WHERE order_id IN (?) ORDER BY id", keys)
	if err != nil {
		return nil, err
	}
	var lines []shop.Line
	err = s.db.SelectContext(ctx, &lines, s.db.Rebind(query), args...)
	return shop.Join(orders, lines), err
}

func (s sqlxStore) Roots(ctx context.Context) (keys []shop.OrderKey, err error) {
	err = s.db.SelectContext(ctx, &keys, "SELECT id FROM orders WHERE parent_id IS NULL ORDER BY id")
	return keys, err
}

func (s sqlxStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	var order shop.Order
	err := s.db.GetContext(ctx, &order, s.db.Rebind("SELECT * FROM orders WHERE id = ?"), key)
	return order, err
}

func (s sqlxStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	_, err := s.db.ExecContext(ctx, "INSERT INTO lists (id, ids) VALUES ($1, $2)", id, pq.Array(ids))
	return err
}

func (s sqlxStore) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	var found []shop.IDs
	err := s.db.SelectContext(ctx, &found, "SELECT ids FROM lists WHERE $1 = ANY(ids)", id)
	return converted(found, func(l shop.IDs) []sqltype.ID { return l }), err
}
