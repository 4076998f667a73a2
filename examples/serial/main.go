// Command serial gives payments serial numbers that people can read, and invoices numbers without
// gaps, with GORM on SQLite:
//
//	go run ./examples/serial
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, time.Now)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "serial:", err)
		os.Exit(1)
	}
}

// run writes payments and invoices, whose numbers have the date of the clock.
func run(ctx context.Context, out io.Writer, now func() time.Time) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // or a lease, where several processes write
	if err != nil {
		return err
	}
	defer gen.Close()
	dir, err := os.MkdirTemp("", "serial") // in memory, counters would end before what has their numbers
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "shop.sqlite") + "?_pragma=busy_timeout(5000)"
	db, err := gorm.Open(sqlite.Open(file), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	defer pool.Close()
	plugin := gormplugin.New(gormplugin.Config{Source: gen, Models: []any{Payment{}, Invoice{}}, Strict: true})
	if err := db.Use(plugin); err != nil {
		return err
	}
	db = db.WithContext(ctx)
	if err := gormplugin.Migrator(db).AutoMigrate(&Payment{}, &Invoice{}); err != nil {
		return err
	}

	rows := []Payment{{Cents: 1250}, {Cents: 99}, {Cents: 400_000}}
	if err := db.Create(&rows).Error; err != nil {
		return err
	}
	fmt.Fprintln(out, "Payments:")
	for _, p := range rows {
		fmt.Fprintf(out, "  %s is id %d\n", p.Serial, p.ID)
	}
	id, err := payments.Decode(rows[1].Serial)
	if err != nil {
		return err
	}
	var found Payment
	if err := db.First(&found, id).Error; err != nil {
		return err
	}
	fmt.Fprintf(out, "  by its serial: %d cents\n", found.Cents)

	store, err := sqlstore.New(pool, sqlstore.Config{})
	if err != nil {
		return err
	}
	if err := store.PrepareCounters(ctx); err != nil { // a transaction cannot create the table
		return err
	}
	numbers, err := serial.NewNumbers(invoiceNumbers(store, now))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nInvoices, numbered in the transaction that writes them:")
	for _, cents := range []int64{1250, 0, 99} { // the database refuses the second
		invoice := Invoice{Cents: cents}
		err := db.Transaction(func(tx *gorm.DB) (err error) {
			if invoice.Number, err = numbers.NextIn(ctx, store.In(tx.Statement.ConnPool)); err != nil {
				return err
			}
			return tx.Create(&invoice).Error
		})
		outcome := "written"
		if err != nil {
			outcome = "rolled back, " + err.Error()
		}
		fmt.Fprintf(out, "  %s of %d cents: %s\n", invoice.Number, cents, outcome)
	}
	return nil
}
