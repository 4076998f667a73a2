// Command bun writes orders with their lines by way of uptrace/bun, under keys
// that are known before the first row, and reads them back:
//
//	go run ./examples/bun
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"

	_ "github.com/glebarez/go-sqlite" // or the driver of your database
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/seed-299c1d6b/snowkey/contrib/bunkey"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order is a parent. The hook sets its key.
type Order struct {
	bunkey.Hook
	ID       sqltype.Key[Order] `bun:",pk" json:"id"`
	Customer string             `bun:",notnull" json:"customer"`
	Lines    []Line             `bun:"rel:has-many,join:id=order_id" json:"lines"`
}

// Line is a child.
type Line struct {
	bunkey.Hook
	ID      sqltype.ID         `bun:",pk" json:"id"`
	OrderID sqltype.Key[Order] `bun:",notnull" json:"orderId"`
	SKU     string             `bun:",notnull" json:"sku"`
}

func main() {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // or a lease, where several processes write
	if err == nil {
		err = run(context.Background(), gen, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bun:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, gen *core.Generator, out io.Writer) error {
	pool, err := sql.Open("sqlite", ":memory:?_pragma=foreign_keys(1)")
	if err != nil {
		return err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1) // a database in memory lives in its connection
	db := bun.NewDB(pool, bunkey.Dialect(sqlitedialect.New(), gen))
	for _, model := range []any{(*Order)(nil), (*Line)(nil)} {
		if _, err := db.NewCreateTable().Model(model).Exec(ctx); err != nil {
			return err
		}
	}
	orders := []Order{
		{Customer: "Ada", Lines: []Line{{SKU: "tea"}, {SKU: "cup"}}},
		{Customer: "Bob", Lines: []Line{{SKU: "jam"}}},
	}
	if err := insert(ctx, db, gen, orders); err != nil {
		return err
	}
	// A row that is written alone gets its key from the hook.
	gift := &Line{OrderID: orders[0].ID, SKU: "a gift"}
	if _, err := db.NewInsert().Model(gift).Exec(ctx); err != nil {
		return err
	}
	ids := []sqltype.Key[Order]{orders[0].ID, orders[1].ID}
	var back []Order
	if err := db.NewSelect().Model(&back).Relation("Lines", byID).Where("id IN (?)", bun.List(ids)).Order("id").Scan(ctx); err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	for _, order := range back {
		if err := enc.Encode(order); err != nil {
			return err
		}
	}
	return nil
}

func byID(q *bun.SelectQuery) *bun.SelectQuery { return q.Order("id") }

// insert gives all rows their keys from one reservation, with the lines' foreign keys, and writes them with one
// INSERT for each table in one transaction.
func insert(ctx context.Context, db *bun.DB, gen *core.Generator, orders []Order) error {
	if err := sqltype.Assign(ctx, gen, orders, func(o *Order) *sqltype.Key[Order] { return &o.ID }, sqltype.Children(
		func(o *Order) []Line { return o.Lines },
		func(l *Line) *sqltype.ID { return &l.ID },
		func(l *Line) *sqltype.Key[Order] { return &l.OrderID },
	)); err != nil {
		return err
	}
	var lines []Line
	for _, o := range orders {
		lines = append(lines, o.Lines...)
	}
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewInsert().Model(&orders).Exec(ctx); err != nil {
			return err
		}
		_, err := tx.NewInsert().Model(&lines).Exec(ctx)
		return err
	})
}
