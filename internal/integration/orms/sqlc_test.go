package orms

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/sqlcshop/mysql"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/sqlcshop/postgres"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/sqlcshop/sqlite"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The code was generated with the file that users copy.
func TestSqlcFile(t *testing.T) {
	public, err := os.ReadFile("../../../examples/sqlc/overrides.yaml")
	if err != nil {
		t.Fatal(err)
	}
	used, err := os.ReadFile("sqlcshop/sqlc.yaml")
	if err != nil || !bytes.Equal(public, used) {
		t.Errorf("sqlcshop/sqlc.yaml differs from examples/sqlc/overrides.yaml, %v: go generate ./internal/integration/orms", err)
	}
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

func openSqlc(t *testing.T, db database, src source) store {
	db.tables(t)
	switch db.kind {
	case "postgres":
		return sqlcPostgres{pgxPool(t, db), src}
	case "mysql":
		return sqlcMySQL{db.pool, src}
	}
	return sqlcSQLite{db.pool, src}
}

func idsOf(keys []shop.OrderKey) (ids []sqltype.ID) {
	for _, k := range keys {
		ids = append(ids, k.ID())
	}
	return ids
}

func keysOf(ids []sqltype.ID) (keys []shop.OrderKey) {
	for _, id := range ids {
		keys = append(keys, shop.OrderKey(id))
	}
	return keys
}

func nullID(key shop.NullOrderKey) sqltype.NullID {
	return sqltype.NullID{ID: key.Key.ID(), Valid: key.Valid}
}

// The three packages have the same structs.
func fromSqlc(rows []postgres.Order, lines []postgres.OrderLine) []shop.Order {
	var orders []shop.Order
	for _, r := range rows {
		orders = append(orders, shop.Order{
			ID: shop.OrderKey(r.ID), Number: r.Number, Customer: r.Customer,
			ParentID: shop.NullOrderKey{Key: shop.OrderKey(r.ParentID.ID), Valid: r.ParentID.Valid},
		})
	}
	var all []shop.Line
	for _, l := range lines {
		all = append(all, shop.Line{ID: l.ID, OrderID: shop.OrderKey(l.OrderID), SKU: l.Sku})
	}
	return shop.Join(orders, all)
}

type sqlcPostgres struct {
	pool *pgxpool.Pool
	src  source
}

func (s sqlcPostgres) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		q := postgres.New(tx)
		for _, o := range orders {
			if err := q.InsertOrder(ctx, postgres.InsertOrderParams{ID: o.ID.ID(), Number: o.Number, Customer: o.Customer, ParentID: nullID(o.ParentID)}); err != nil {
				return err
			}
		}
		for _, l := range shop.Lines(orders) {
			if err := q.InsertLine(ctx, postgres.InsertLineParams{ID: l.ID, OrderID: l.OrderID.ID(), Sku: l.SKU}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s sqlcPostgres) Upsert(ctx context.Context, o *shop.Order) error {
	one := []shop.Order{*o}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	id, err := postgres.New(s.pool).PutOrder(ctx, postgres.PutOrderParams{ID: one[0].ID.ID(), Number: o.Number, Customer: o.Customer, ParentID: nullID(o.ParentID)})
	o.ID = shop.OrderKey(id)
	return err
}

func (s sqlcPostgres) Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error) {
	q := postgres.New(s.pool)
	rows, err := q.Orders(ctx, idsOf(keys))
	if err != nil {
		return nil, err
	}
	lines, err := q.LinesOf(ctx, idsOf(keys))
	return fromSqlc(rows, lines), err
}

func (s sqlcPostgres) Roots(ctx context.Context) ([]shop.OrderKey, error) {
	ids, err := postgres.New(s.pool).Roots(ctx)
	return keysOf(ids), err
}

func (s sqlcPostgres) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	rows, err := postgres.New(s.pool).Orders(ctx, []sqltype.ID{key.ID()})
	return rows[0], err
}

func (s sqlcPostgres) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	return postgres.New(s.pool).InsertList(ctx, postgres.InsertListParams{ID: id, Ids: ids})
}

func (s sqlcPostgres) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	return postgres.New(s.pool).ListsWith(ctx, id)
}

type sqlcMySQL struct {
	pool *sql.DB
	src  source
}

func (s sqlcMySQL) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	tx, err := s.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	q := mysql.New(tx)
	for _, o := range orders {
		if err := q.InsertOrder(ctx, mysql.InsertOrderParams{ID: o.ID.ID(), Number: o.Number, Customer: o.Customer, ParentID: nullID(o.ParentID)}); err != nil {
			return err
		}
	}
	for _, l := range shop.Lines(orders) {
		if err := q.InsertLine(ctx, mysql.InsertLineParams{ID: l.ID, OrderID: l.OrderID.ID(), Sku: l.SKU}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s sqlcMySQL) Upsert(ctx context.Context, o *shop.Order) error {
	one := []shop.Order{*o}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	q := mysql.New(s.pool)
	if err := q.PutOrder(ctx, mysql.PutOrderParams{ID: one[0].ID.ID(), Number: o.Number, Customer: o.Customer, ParentID: nullID(o.ParentID)}); err != nil {
		return err
	}
	id, err := q.KeyOf(ctx, o.Number)
	o.ID = shop.OrderKey(id)
	return err
}

func (s sqlcMySQL) Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error) {
	q := mysql.New(s.pool)
	found, err := q.Orders(ctx, idsOf(keys))
	if err != nil {
		return nil, err
	}
	lines, err := q.LinesOf(ctx, idsOf(keys))
	return fromSqlc(converted(found, func(r mysql.Order) postgres.Order { return postgres.Order(r) }),
		converted(lines, func(l mysql.OrderLine) postgres.OrderLine { return postgres.OrderLine(l) })), err
}

func converted[A, B any](list []A, to func(A) B) (made []B) {
	for _, v := range list {
		made = append(made, to(v))
	}
	return made
}

func (s sqlcMySQL) Roots(ctx context.Context) ([]shop.OrderKey, error) {
	ids, err := mysql.New(s.pool).Roots(ctx)
	return keysOf(ids), err
}

func (s sqlcMySQL) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	rows, err := mysql.New(s.pool).Orders(ctx, []sqltype.ID{key.ID()})
	return rows[0], err
}

type sqlcSQLite struct {
	pool *sql.DB
	src  source
}

func (s sqlcSQLite) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	tx, err := s.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	q := sqlite.New(tx)
	for _, o := range orders {
		if err := q.InsertOrder(ctx, sqlite.InsertOrderParams{ID: o.ID.ID(), Number: o.Number, Customer: o.Customer, ParentID: nullID(o.ParentID)}); err != nil {
			return err
		}
	}
	for _, l := range shop.Lines(orders) {
		if err := q.InsertLine(ctx, sqlite.InsertLineParams{ID: l.ID, OrderID: l.OrderID.ID(), Sku: l.SKU}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s sqlcSQLite) Upsert(ctx context.Context, o *shop.Order) error {
	one := []shop.Order{*o}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	id, err := sqlite.New(s.pool).PutOrder(ctx, sqlite.PutOrderParams{ID: one[0].ID.ID(), Number: o.Number, Customer: o.Customer, ParentID: nullID(o.ParentID)})
	o.ID = shop.OrderKey(id)
	return err
}

func (s sqlcSQLite) Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error) {
	q := sqlite.New(s.pool)
	found, err := q.Orders(ctx, idsOf(keys))
	if err != nil {
		return nil, err
	}
	lines, err := q.LinesOf(ctx, idsOf(keys))
	return fromSqlc(converted(found, func(r sqlite.Order) postgres.Order { return postgres.Order(r) }),
		converted(lines, func(l sqlite.OrderLine) postgres.OrderLine { return postgres.OrderLine(l) })), err
}

func (s sqlcSQLite) Roots(ctx context.Context) ([]shop.OrderKey, error) {
	ids, err := sqlite.New(s.pool).Roots(ctx)
	return keysOf(ids), err
}

func (s sqlcSQLite) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	rows, err := sqlite.New(s.pool).Orders(ctx, []sqltype.ID{key.ID()})
	return rows[0], err
}
