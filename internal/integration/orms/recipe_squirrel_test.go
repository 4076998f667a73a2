package orms

import (
	"context"
	"database/sql"

	"github.com/Masterminds/squirrel"
	"github.com/lib/pq"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type squirrelStore struct {
	db      *sql.DB
	builder squirrel.StatementBuilderType // with squirrel.Dollar on PostgreSQL
	src     source
	kind    string
}

func (s squirrelStore) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	insert := s.builder.Insert("orders").Columns("id", "number", "customer", "parent_id")
	for _, o := range orders {
		insert = insert.Values(o.ID, o.Number, o.Customer, o.ParentID)
	}
	lines := s.builder.Insert("order_lines").Columns("id", "order_id", "sku")
	for _, l := range shop.Lines(orders) {
		lines = lines.Values(l.ID, l.OrderID, l.SKU)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := insert.RunWith(tx).ExecContext(ctx); err != nil {
		return err
	}
	if _, err := lines.RunWith(tx).ExecContext(ctx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s squirrelStore) Upsert(ctx context.Context, order *shop.Order) error {
	one := []shop.Order{*order}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	insert := s.builder.Insert("orders").Columns("id", "number", "customer", "parent_id").
		Values(one[0].ID, order.Number, order.Customer, order.ParentID).Suffix(put(s.kind)).RunWith(s.db)
	if s.kind != "mysql" {
		return insert.Suffix("RETURNING id").QueryRowContext(ctx).Scan(&order.ID)
	}
	if _, err := insert.ExecContext(ctx); err != nil {
		return err
	}
	return s.builder.Select("id").From("orders").Where(squirrel.Eq{"number": order.Number}).RunWith(s.db).QueryRowContext(ctx).Scan(&order.ID)
}

func (s squirrelStore) Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error) {
	orders, err := s.find(ctx, squirrel.Eq{"id": keys})
	if err != nil {
		return nil, err
	}
	rows, err := s.builder.Select("id", "order_id", "sku").From("order_lines").
		Where(squirrel.Eq{"order_id": keys}).OrderBy("id").RunWith(s.db).QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines []shop.Line
	for rows.Next() {
		var l shop.Line
		if err := rows.Scan(&l.ID, &l.OrderID, &l.SKU); err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return shop.Join(orders, lines), rows.Err()
}

// find looks for a NULL where the condition has a sqltype.NullKey that is NULL, or nil.
func (s squirrelStore) find(ctx context.Context, where squirrel.Eq) (orders []shop.Order, err error) {
	rows, err := s.builder.Select("id", "number", "customer", "parent_id").From("orders").
		Where(where).OrderBy("id").RunWith(s.db).QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o shop.Order
		if err := rows.Scan(&o.ID, &o.Number, &o.Customer, &o.ParentID); err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	return orders, rows.Err()
}

func (s squirrelStore) Roots(ctx context.Context) (keys []shop.OrderKey, err error) {
	orders, err := s.find(ctx, squirrel.Eq{"parent_id": shop.NullOrderKey{}})
	for _, o := range orders {
		keys = append(keys, o.ID)
	}
	return keys, err
}

func (s squirrelStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	orders, err := s.find(ctx, squirrel.Eq{"id": key})
	return orders[0], err
}

func (s squirrelStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	_, err := s.builder.Insert("lists").Values(id, pq.Array(ids)).RunWith(s.db).ExecContext(ctx)
	return err
}

func (s squirrelStore) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	rows, err := s.builder.Select("ids").From("lists").Where("? = ANY(ids)", id).RunWith(s.db).QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	return scanLists(rows)
}
