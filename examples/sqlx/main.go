// Command sqlx writes orders with their lines by way of jmoiron/sqlx, under keys
// that are known before the first row, and reads them back:
//
//	go run ./examples/sqlx
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	_ "github.com/glebarez/go-sqlite" // or the driver of your database
	"github.com/jmoiron/sqlx"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order is a master. An sqltype.ID needs nothing but the column's name.
type Order struct {
	ID       sqltype.ID `db:"id" json:"id"`
	Customer string     `db:"customer" json:"customer"`
	Lines    []Line     `db:"-" json:"lines"`
}

// Line is a detail.
type Line struct {
	ID      sqltype.ID `db:"id" json:"id"`
	OrderID sqltype.ID `db:"order_id" json:"orderId"`
	SKU     string     `db:"sku" json:"sku"`
}

func main() {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // or a lease, where several processes write
	if err == nil {
		err = run(context.Background(), gen, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sqlx:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, gen *core.Generator, out io.Writer) error {
	db, err := sqlx.Open("sqlite", ":memory:?_pragma=foreign_keys(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // a database in memory lives in its connection
	if _, err := db.ExecContext(ctx, `
		CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY CHECK (id > 0), customer TEXT NOT NULL) WITHOUT ROWID;
		CREATE TABLE lines (id BIGINT NOT NULL PRIMARY KEY CHECK (id > 0), order_id BIGINT NOT NULL REFERENCES orders, sku TEXT NOT NULL) WITHOUT ROWID`); err != nil {
		return err
	}
	orders := []Order{
		{Customer: "Ada", Lines: []Line{{SKU: "tea"}, {SKU: "cup"}}},
		{Customer: "Bob", Lines: []Line{{SKU: "jam"}}},
	}
	if err := insert(ctx, db, gen, orders); err != nil {
		return err
	}
	ids := []sqltype.ID{orders[0].ID, orders[1].ID}
	query, args, err := sqlx.In("SELECT id, order_id, sku FROM lines WHERE order_id IN (?) ORDER BY id", ids)
	if err != nil {
		return err
	}
	var lines []Line
	if err := db.SelectContext(ctx, &lines, db.Rebind(query), args...); err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// insert gives all rows their keys from one reservation, and writes them with one
// INSERT for each table in one transaction.
func insert(ctx context.Context, db *sqlx.DB, gen *core.Generator, orders []Order) error {
	if err := sqltype.Assign(ctx, gen, orders, func(o *Order) *sqltype.ID { return &o.ID }, sqltype.Children(
		func(o *Order) []Line { return o.Lines },
		func(l *Line) *sqltype.ID { return &l.ID },
		func(l *Line) *sqltype.ID { return &l.OrderID },
	)); err != nil {
		return err
	}
	var lines []Line
	for _, o := range orders {
		lines = append(lines, o.Lines...)
	}
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := tx.NamedExecContext(ctx, "INSERT INTO orders (id, customer) VALUES (:id, :customer)", orders); err != nil {
		return err
	}
	if _, err := tx.NamedExecContext(ctx, "INSERT INTO lines (id, order_id, sku) VALUES (:id, :order_id, :sku)", lines); err != nil {
		return err
	}
	return tx.Commit()
}
