// Command ent writes orders with their lines through entgo.io/ent, and prints those of the last day
// as JSON:
//
//	go run ./examples/ent
//
// ent's generator reads schema and writes db. After a change of the schema,
// go generate ./examples/ent writes db again.
package main

//go:generate go run generate.go

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/glebarez/go-sqlite" // or the driver of your database

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/key"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/line"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/order"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// newOrder is an order before it is written.
type newOrder struct {
	ID       key.Order
	Customer string
	Lines    []newLine
}

type newLine struct {
	ID      sqltype.ID
	OrderID key.Order
	SKU     string
}

func main() {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // or a lease, where several processes write
	if err == nil {
		err = run(context.Background(), gen, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, gen *core.Generator, out io.Writer) error {
	pool, err := sql.Open("sqlite", ":memory:?_pragma=foreign_keys(1)")
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1) // a database in memory lives in its connection
	client := db.NewClient(db.Driver(entsql.OpenDB(dialect.SQLite, pool)))
	defer client.Close()
	if err := client.Schema.Create(ctx); err != nil {
		return err
	}
	client.Use(entkey.Keys(gen))
	orders := []newOrder{
		{Customer: "Ada", Lines: []newLine{{SKU: "tea"}, {SKU: "cup"}}},
		{Customer: "Bob", Lines: []newLine{{SKU: "jam"}}},
	}
	if err := insert(ctx, client, gen, orders); err != nil {
		return err
	}
	// A single row gets its key from the hook.
	if err := client.Line.Create().SetOrderID(orders[0].ID).SetSku("a gift").Exec(ctx); err != nil {
		return err
	}
	// Times are ranges of the primary key.
	now := time.Now()
	low, high, err := gen.Layout().Range(now.AddDate(0, 0, -1), now.Add(time.Minute)) // ids may be ahead of the clock a little
	if err != nil {
		return err
	}
	found, err := client.Order.Query().
		Where(order.IDGTE(key.Order(low)), order.IDLT(key.Order(high))).
		WithLines(func(q *db.LineQuery) { q.Order(line.ByID()) }).
		Order(order.ByID()).All(ctx)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	for _, o := range found {
		if err := enc.Encode(o); err != nil {
			return err
		}
	}
	return nil
}

// insert assigns the keys of all rows from one reservation, and writes the rows in one transaction,
// orders first.
func insert(ctx context.Context, client *db.Client, gen *core.Generator, orders []newOrder) error {
	if err := sqltype.Assign(ctx, gen, orders, func(o *newOrder) *key.Order { return &o.ID }, sqltype.Children(
		func(o *newOrder) []newLine { return o.Lines },
		func(l *newLine) *sqltype.ID { return &l.ID },
		func(l *newLine) *key.Order { return &l.OrderID },
	)); err != nil {
		return err
	}
	var lines []newLine
	for _, o := range orders {
		lines = append(lines, o.Lines...)
	}
	tx, err := client.Tx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := tx.Order.MapCreateBulk(orders, func(row *db.OrderCreate, i int) {
		row.SetID(orders[i].ID).SetCustomer(orders[i].Customer)
	}).Exec(ctx); err != nil {
		return err
	}
	if err := tx.Line.MapCreateBulk(lines, func(row *db.LineCreate, i int) {
		row.SetID(lines[i].ID).SetOrderID(lines[i].OrderID).SetSku(lines[i].SKU)
	}).Exec(ctx); err != nil {
		return err
	}
	return tx.Commit()
}
