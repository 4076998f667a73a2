// Package parcels tracks the parcels of orders, with GORM and with pgx.
package parcels

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Order struct {
	ID   sqltype.ID
	Note string
}

type Parcel struct {
	ID      sqltype.ID
	OrderID uint32 // FAULT 055 snownarrow: a foreign key of 32 bits to a Snowflake key
	Order   *Order
	Grams   int32 // OK 45: a weight
}

// Newest returns the order that was made last.
func Newest(ctx context.Context, pool *pgxpool.Pool) (sqltype.ID, error) {
	var id int32
	if err := pool.QueryRow(ctx, "SELECT max(id) FROM orders").Scan(&id); err != nil { // FAULT 056 snownarrow: pgx refuses a bigint for an int32; jackc/pgx#182
		return 0, err
	}
	return sqltype.ID(id), nil // ALSO 056: converted here
}

// Count returns the number of parcels of an order.
func Count(ctx context.Context, pool *pgxpool.Pool, order sqltype.ID) (int32, error) {
	var n int32
	err := pool.QueryRow(ctx, "SELECT count(*)::int FROM parcels WHERE order_id = $1", order).Scan(&n) // OK 46: a count
	return n, err
}

// List returns the keys of the parcels of an order.
func List(ctx context.Context, pool *pgxpool.Pool, order sqltype.ID) ([]sqltype.ID, error) {
	rows, err := pool.Query(ctx, "SELECT id FROM parcels WHERE order_id = $1 ORDER BY id", order) // OK 47: ordered by a bigint
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[sqltype.ID])
}
