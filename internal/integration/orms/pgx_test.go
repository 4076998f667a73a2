package orms

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type pgxStore struct {
	pool *pgxpool.Pool
	src  source
}

func pgxPool(t *testing.T, db database) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.AfterConnect = pgxtype.AfterConnect
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func openPgx(t *testing.T, db database, src source) store {
	db.tables(t)
	return pgxStore{pgxPool(t, db), src}
}

func (s pgxStore) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, o := range orders {
		batch.Queue("INSERT INTO orders VALUES ($1, $2, $3, $4)", o.ID, o.Number, o.Customer, o.ParentID)
	}
	for _, l := range shop.Lines(orders) {
		batch.Queue("INSERT INTO order_lines VALUES ($1, $2, $3)", l.ID, l.OrderID, l.SKU)
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
}

func (s pgxStore) Upsert(ctx context.Context, order *shop.Order) error {
	one := []shop.Order{*order}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	return s.pool.QueryRow(ctx, `INSERT INTO orders VALUES ($1, $2, $3, $4)
		ON CONFLICT (number) DO UPDATE SET customer = excluded.customer RETURNING id`,
		one[0].ID, order.Number, order.Customer, order.ParentID).Scan(&order.ID)
}

func (s pgxStore) Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error) {
	rows, err := s.pool.Query(ctx, "SELECT * FROM orders WHERE id = ANY($1) ORDER BY id", keys)
	if err != nil {
		return nil, err
	}
	orders, err := pgx.CollectRows(rows, pgx.RowToStructByName[shop.Order])
	if err != nil {
		return nil, err
	}
	rows, err = s.pool.Query(ctx, "SELECT * FROM order_lines WHERE order_id = ANY($1) ORDER BY id", keys)
	if err != nil {
		return nil, err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowToStructByName[shop.Line])
	return shop.Join(orders, lines), err
}

func (s pgxStore) Roots(ctx context.Context) ([]shop.OrderKey, error) {
	rows, err := s.pool.Query(ctx, "SELECT id FROM orders WHERE parent_id IS NULL ORDER BY id")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[shop.OrderKey])
}

func (s pgxStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	rows, err := s.pool.Query(ctx, "SELECT * FROM orders WHERE id = $1", key)
	if err != nil {
		return nil, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[shop.Order])
}

func (s pgxStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	_, err := s.pool.Exec(ctx, "INSERT INTO lists VALUES ($1, $2)", id, ids)
	return err
}

func (s pgxStore) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	rows, err := s.pool.Query(ctx, "SELECT ids FROM lists WHERE $1 = ANY(ids)", id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[[]sqltype.ID])
}
