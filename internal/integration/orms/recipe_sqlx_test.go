package orms

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// docs/sql.md links to this file.

// put is an upsert by the number, without the values.
func put(kind string) string {
	if kind == "mysql" {
		return "ON DUPLICATE KEY UPDATE customer = VALUES(customer)"
	}
	return "ON CONFLICT (number) DO UPDATE SET customer = excluded.customer"
}

func scanLists(rows *sql.Rows) (lists [][]sqltype.ID, err error) {
	defer rows.Close()
	for rows.Next() {
		var ids []sqltype.ID
		if err := rows.Scan(pq.Array(&ids)); err != nil {
			return nil, err
		}
		lists = append(lists, ids)
	}
	return lists, rows.Err()
}

func openSqlx(t *testing.T, db database, src source) store {
	db.tables(t)
	driver := map[string]string{"postgres": "pgx", "mysql": "mysql", "sqlite": "sqlite"}[db.kind]
	return sqlxStore{sqlx.NewDb(db.pool, driver), src, db.kind}
}

type sqlxStore struct {
	db   *sqlx.DB
	src  source
	kind string
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
	_, err := s.db.NamedExecContext(ctx, "INSERT INTO orders (id, number, customer, parent_id) VALUES (:id, :number, :customer, :parent_id) "+put(s.kind), one[0])
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
	rows, err := s.db.QueryContext(ctx, "SELECT ids FROM lists WHERE $1 = ANY(ids)", id)
	if err != nil {
		return nil, err
	}
	return scanLists(rows)
}
