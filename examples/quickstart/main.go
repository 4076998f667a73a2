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
	"strings"
	"syscall"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli(ctx, os.Args[1:], os.Stdout, os.Stderr, sqlstore.Config{Table: "quickstart_worker"})
	stop()
	os.Exit(code)
}

// cli returns the exit status: 1 if something failed, 2 for a wrong command line.
func cli(ctx context.Context, args []string, stdout, stderr io.Writer, leases sqlstore.Config) int {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(stderr)
	in := flags.String("in", "", "CSV `file` of orders, one row per line; default: examples/data/orders.csv")
	dsn := flags.String("db", "", "postgres://…, mysql://… or a `file` .sqlite; default: SQLite in memory")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	err := fmt.Errorf("unexpected argument %q", flags.Arg(0))
	if flags.NArg() == 0 {
		err = run(ctx, stdout, *in, *dsn, leases)
	}
	if err != nil {
		fmt.Fprintf(stderr, "quickstart: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		return 1
	}
	return 0
}

func run(ctx context.Context, out io.Writer, in, dsn string, leases sqlstore.Config) (err error) {
	orders, err := read(data.At(in)) // an error here leaves the database untouched
	if err != nil {
		return err
	}
	db, err := open(ctx, dsn)
	if err != nil {
		return fmt.Errorf("-db %q: %w", redact(dsn), err)
	}
	defer closePool(db)
	leases.AllowDataLoss = leases.AllowDataLoss || dsn == "" // in memory, leases end with the rows
	gen, err := gormplugin.Open(ctx, db, gormplugin.OpenConfig{Store: leases})
	if err != nil {
		return fmt.Errorf("-db %q: %w", redact(dsn), err)
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }()
	db = db.WithContext(ctx)
	if err := db.AutoMigrate(&Customer{}, &Order{}, &OrderLine{}); err != nil {
		return fmt.Errorf("-db %q: %w", redact(dsn), err)
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
	return report(db, gen.Generator().Layout(), out, written, len(orders)-len(news), time.Since(began))
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
