// Command ent writes orders with their lines through entgo.io/ent, and prints the orders of the
// last day as JSON:
//
//	go run ./examples/ent
//	go run ./examples/ent -db shop.sqlite
//
// ent's generator reads schema and writes db. After a change of the schema,
// go generate ./examples/ent writes db again.
package main

//go:generate go run generate.go

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/glebarez/go-sqlite" // or the driver of your database
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db"
	"github.com/seed-299c1d6b/snowkey/orm/entkey"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	dsn := flag.String("db", "", "SQLite `file`, or postgres://user:password@host/database; default: SQLite in memory")
	lossy := flag.Bool("allow-data-loss", false, "accept a server that may lose a commit when it crashes: ids may then be made twice")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *dsn, *lossy)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, dsn string, lossy bool) (err error) {
	client, pool, err := open(ctx, dsn)
	if err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	defer client.Close()
	gen, err := sqlstore.Open(ctx, pool, sqlstore.Config{
		AllowDataLoss: lossy || dsn == "", // in memory, leases end with the rows
		Lease:         worker.Config{Namespace: "ent", ClaimWait: time.Minute},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }() // before the database
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
	now := time.Now()
	found, err := between(ctx, client, gen.Layout(), now.AddDate(0, 0, -1), now.Add(time.Minute)) // ids may be ahead of the clock a little
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

// open creates the tables. The client closes the pool.
func open(ctx context.Context, dsn string) (*db.Client, *sql.DB, error) {
	driver, kind, uri := "sqlite", dialect.SQLite, dsn+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"
	switch {
	case dsn == "":
		uri = ":memory:?_pragma=foreign_keys(1)"
	case strings.HasPrefix(dsn, "postgres"):
		driver, kind, uri = "pgx", dialect.Postgres, dsn
	default:
		if err := data.Touch(dsn); err != nil {
			return nil, nil, err
		}
	}
	pool, err := sql.Open(driver, uri)
	if err != nil {
		return nil, nil, err
	}
	if dsn == "" {
		pool.SetMaxOpenConns(1) // each connection has a memory of its own
	}
	client := db.NewClient(db.Driver(entsql.OpenDB(kind, pool)))
	if err := client.Schema.Create(ctx); err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return client, pool, nil
}
