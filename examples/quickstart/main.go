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
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	in := flag.String("in", "", "CSV `file` of orders, one row per line; default: examples/data/orders.csv")
	dsn := flag.String("db", "", "a `file` .sqlite, postgres://…, or for MySQL and MariaDB user:password@tcp(host:3306)/database; default: SQLite in memory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *in, *dsn, sqlstore.Config{Table: "quickstart_worker"})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, in, dsn string, leases sqlstore.Config) (err error) {
	orders, err := read(data.At(in)) // an error here leaves the database untouched
	if err != nil {
		return err
	}
	db, err := open(ctx, dsn)
	if err != nil {
		return fmt.Errorf("-db: %w", err) // the drivers hide passwords
	}
	defer closePool(db)
	leases.AllowDataLoss = leases.AllowDataLoss || dsn == "" // in memory, leases end with the rows
	gen, err := gormplugin.Open(ctx, db, gormplugin.Config{Store: leases})
	if err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }()
	db = db.WithContext(ctx)
	if err := db.AutoMigrate(&Customer{}, &Order{}, &OrderLine{}); err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	news, err := onlyNew(db, orders)
	if err != nil {
		return err
	}
	began := time.Now()
	var written graph.Result
	if len(news) > 0 { // all of them, or none
		if written, err = graph.CreateWith(ctx, db, news, graph.Config{}); err != nil {
			return err
		}
	}
	return report(db, gen.Layout(), out, written, len(orders)-len(news), time.Since(began))
}

// onlyNew returns the orders whose numbers are not in the database.
func onlyNew(db *gorm.DB, orders []*Order) ([]*Order, error) {
	known := map[string]bool{}
	for part := range slices.Chunk(orders, 500) {
		numbers, found := make([]string, len(part)), []string(nil)
		for i, o := range part {
			numbers[i] = o.Number
		}
		if err := db.Model(&Order{}).Where("number IN ?", numbers).Pluck("number", &found).Error; err != nil {
			return nil, err
		}
		for _, number := range found {
			known[number] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(orders), func(o *Order) bool { return known[o.Number] }), nil
}
