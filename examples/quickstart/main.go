// Command quickstart loads orders with their lines into a database, in one transaction and
// under keys that are known before the first INSERT:
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -in orders.csv -db postgres://user:password@localhost/shop
//
// Opening a database is in database.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	in := flag.String("in", "", "CSV `file` of orders, one row per line; default: examples/data/orders.csv")
	dsn := flag.String("db", "", "a `file` .sqlite, postgres://…, or for MySQL and MariaDB user:password@tcp(host:3306)/database?parseTime=true; default: SQLite in memory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *in, *dsn, sqlstore.Config{Table: "quickstart_lease"})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, in, dsn string, leases sqlstore.Config) (err error) {
	file, err := data.Read(in) // an error here leaves the database untouched
	if err != nil {
		return err
	}
	orders := draft(file)
	db, pool, err := open(dsn)
	if err != nil {
		return fmt.Errorf("-db: %w", err) // the drivers hide passwords
	}
	defer pool.Close()
	plugin := gormplugin.New(gormplugin.Config{Store: leases})
	if err := db.Use(plugin); err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	defer func() { err = errors.Join(err, plugin.Close(context.Background())) }()
	db = db.WithContext(ctx)
	if err := gormplugin.Migrator(db).AutoMigrate(&Customer{}, &Order{}, &OrderLine{}); err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	began := time.Now()
	written, err := graph.CreateWith(ctx, db, orders, graph.Config{}) // all of them, or none
	if err != nil {
		return err
	}
	return report(db, plugin.Generator().Layout(), out, written, time.Since(began))
}

// draft makes the rows of the file, one struct for each row: one customer may have many orders.
func draft(file []*data.Order) []*Order {
	customers := map[*data.Customer]*Customer{}
	orders := make([]*Order, len(file))
	for i, o := range file {
		if customers[o.Customer] == nil {
			customers[o.Customer] = &Customer{Name: o.Customer.Name, Email: o.Customer.Email}
		}
		orders[i] = &Order{Number: o.Number, PlacedAt: o.PlacedAt, Customer: customers[o.Customer]}
		for j, l := range o.Lines {
			orders[i].Lines = append(orders[i].Lines, OrderLine{Position: j + 1, SKU: l.SKU, Product: l.Product, Quantity: l.Quantity, UnitPrice: l.Cents})
		}
	}
	return orders
}
