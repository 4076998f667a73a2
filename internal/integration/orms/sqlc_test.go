package orms

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/ddl"
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
	must(t, err)
	used, err := os.ReadFile("sqlcshop/sqlc.yaml")
	if err != nil || !bytes.Equal(public, used) {
		t.Errorf("sqlcshop/sqlc.yaml differs from examples/sqlc/overrides.yaml, %v: go generate ./internal/integration/orms", err)
	}
}

// The packages that sqlc generates for the three engines have the same structs, but for their names.
type (
	params     = postgres.InsertOrderParams
	orderParam interface {
		params | mysql.InsertOrderParams | sqlite.InsertOrderParams
	}
	lineParam interface {
		postgres.InsertLineParams | mysql.InsertLineParams | sqlite.InsertLineParams
	}
	orderRow interface {
		postgres.Order | mysql.Order | sqlite.Order
	}
	lineRow interface {
		postgres.OrderLine | mysql.OrderLine | sqlite.OrderLine
	}
	queries[O orderParam, L lineParam, Order orderRow, Line lineRow] interface {
		InsertOrder(context.Context, O) error
		InsertLine(context.Context, L) error
		Orders(context.Context, []sqltype.ID) ([]Order, error)
		LinesOf(context.Context, []sqltype.ID) ([]Line, error)
		Roots(context.Context) ([]sqltype.ID, error)
	}
	postgresQueries = queries[params, postgres.InsertLineParams, postgres.Order, postgres.OrderLine]
	mysqlQueries    = queries[mysql.InsertOrderParams, mysql.InsertLineParams, mysql.Order, mysql.OrderLine]
	sqliteQueries   = queries[sqlite.InsertOrderParams, sqlite.InsertLineParams, sqlite.Order, sqlite.OrderLine]
)

type sqlcStore[O orderParam, L lineParam, Order orderRow, Line lineRow] struct {
	src      source
	q        queries[O, L, Order, Line]
	transact func(ctx context.Context, work func(queries[O, L, Order, Line]) error) error
	put      func(ctx context.Context, p params) (sqltype.ID, error)
}

// sqlcPostgres has arrays, too.
type sqlcPostgres struct {
	sqlcStore[params, postgres.InsertLineParams, postgres.Order, postgres.OrderLine]
	arrays *postgres.Queries
}

func openSqlc(t *testing.T, db *database, src source) store {
	tables(t, db)
	switch db.Dialect {
	case ddl.Postgres:
		config, err := pgxpool.ParseConfig(db.DSN)
		must(t, err)
		config.AfterConnect = pgxtype.AfterConnect
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		must(t, err)
		t.Cleanup(pool.Close)
		q := postgres.New(pool)
		s := sqlcPostgres{arrays: q}
		s.src, s.q = src, q
		s.transact = func(ctx context.Context, work func(postgresQueries) error) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return work(q.WithTx(tx)) })
		}
		s.put = func(ctx context.Context, p params) (sqltype.ID, error) {
			return q.PutOrder(ctx, postgres.PutOrderParams(p))
		}
		return s
	case ddl.MySQL:
		q := mysql.New(db)
		s := sqlcStore[mysql.InsertOrderParams, mysql.InsertLineParams, mysql.Order, mysql.OrderLine]{src: src, q: q}
		s.transact = func(ctx context.Context, work func(mysqlQueries) error) error {
			return inTransaction(ctx, db.DB, func(tx *sql.Tx) error { return work(q.WithTx(tx)) })
		}
		s.put = func(ctx context.Context, p params) (sqltype.ID, error) {
			if err := q.PutOrder(ctx, mysql.PutOrderParams(p)); err != nil {
				return 0, err
			}
			return q.KeyOf(ctx, p.Number)
		}
		return s
	}
	q := sqlite.New(db)
	s := sqlcStore[sqlite.InsertOrderParams, sqlite.InsertLineParams, sqlite.Order, sqlite.OrderLine]{src: src, q: q}
	s.transact = func(ctx context.Context, work func(sqliteQueries) error) error {
		return inTransaction(ctx, db.DB, func(tx *sql.Tx) error { return work(q.WithTx(tx)) })
	}
	s.put = func(ctx context.Context, p params) (sqltype.ID, error) {
		return q.PutOrder(ctx, sqlite.PutOrderParams(p))
	}
	return s
}

func inTransaction(ctx context.Context, db *sql.DB, work func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func converted[A, B any](list []A, to func(A) B) (made []B) {
	for _, v := range list {
		made = append(made, to(v))
	}
	return made
}

func paramsOf(o shop.Order) params {
	parent := sqltype.NullID{ID: o.ParentID.Key.ID(), Valid: o.ParentID.Valid}
	return params{ID: o.ID.ID(), Number: o.Number, Customer: o.Customer, ParentID: parent}
}

func (s sqlcStore[O, L, Order, Line]) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	return s.transact(ctx, func(q queries[O, L, Order, Line]) error {
		for _, o := range orders {
			if err := q.InsertOrder(ctx, O(paramsOf(o))); err != nil {
				return err
			}
		}
		for _, l := range shop.Lines(orders) {
			line := postgres.InsertLineParams{ID: l.ID, OrderID: l.OrderID.ID(), Sku: l.SKU}
			if err := q.InsertLine(ctx, L(line)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s sqlcStore[O, L, Order, Line]) Upsert(ctx context.Context, o *shop.Order) error {
	one := []shop.Order{*o}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	id, err := s.put(ctx, paramsOf(one[0]))
	o.ID = shop.OrderKey(id)
	return err
}

func (s sqlcStore[O, L, Order, Line]) Orders(ctx context.Context, keys []shop.OrderKey) ([]shop.Order, error) {
	ids := converted(keys, shop.OrderKey.ID)
	rows, err := s.q.Orders(ctx, ids)
	if err != nil {
		return nil, err
	}
	lines, err := s.q.LinesOf(ctx, ids)
	return shop.Join(converted(rows, func(row Order) shop.Order {
		r := postgres.Order(row)
		parent := shop.NullOrderKey{Key: shop.OrderKey(r.ParentID.ID), Valid: r.ParentID.Valid}
		return shop.Order{ID: shop.OrderKey(r.ID), Number: r.Number, Customer: r.Customer, ParentID: parent}
	}), converted(lines, func(row Line) shop.Line {
		l := postgres.OrderLine(row)
		return shop.Line{ID: l.ID, OrderID: shop.OrderKey(l.OrderID), SKU: l.Sku}
	})), err
}

func (s sqlcStore[O, L, Order, Line]) Roots(ctx context.Context) ([]shop.OrderKey, error) {
	ids, err := s.q.Roots(ctx)
	return converted(ids, func(id sqltype.ID) shop.OrderKey { return shop.OrderKey(id) }), err
}

func (s sqlcStore[O, L, Order, Line]) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	rows, err := s.q.Orders(ctx, []sqltype.ID{key.ID()})
	return rows[0], err
}

func (s sqlcPostgres) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	return s.arrays.InsertList(ctx, postgres.InsertListParams{ID: id, Ids: ids})
}

func (s sqlcPostgres) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	return s.arrays.ListsWith(ctx, id)
}
