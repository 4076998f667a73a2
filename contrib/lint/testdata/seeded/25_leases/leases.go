// Package leases leases worker IDs for command line tools.
package leases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Print writes n ids.
func Print(ctx context.Context, out io.Writer, store driver.Store, n int) error {
	gen, err := worker.Open(ctx, store, worker.Config{Namespace: "tools"}) // FAULT 075 snowclose: its lease is renewed until the process ends; Scalingo/go-etcd-cron#16
	if err != nil {
		return err
	}
	ids := make([]int64, n)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, ids)
	return err
}

// Import writes rows that it reads.
func Import(ctx context.Context, db *sql.DB, r io.Reader) error {
	gen, err := sqlstore.Open(ctx, db, worker.Config{}) // FAULT 076 snowclose: not closed if the text cannot be read; projecteru2/core#399
	if err != nil {
		return err
	}
	var names []string
	for {
		var name string
		_, err := fmt.Fscanln(r, &name)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err // ALSO 076: returns without Close
		}
		names = append(names, name)
	}
	err = insert(ctx, db, gen, names)
	return errors.Join(err, gen.Close(context.WithoutCancel(ctx)))
}

func insert(ctx context.Context, db *sql.DB, gen *worker.Generator, names []string) error {
	for _, name := range names {
		id, err := gen.Next(ctx)
		if err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO names (id, name) VALUES ($1, $2)", id, name); err != nil {
			return err
		}
	}
	return nil
}

// Install adds the plugin to a handle.
func Install(db *gorm.DB) error {
	return db.Use(&gormplugin.Plugin{}) // FAULT 077 snowclose: the plugin is dropped, so nothing can close it
}

// InstallUntil adds the plugin to a handle, and releases the worker ID when ctx is done.
func InstallUntil(ctx context.Context, db *gorm.DB) error {
	var plugin gormplugin.Plugin
	if err := db.Use(&plugin); err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { plugin.Close(context.WithoutCancel(ctx)) }) // OK 57: closed by another goroutine
	return nil
}

// Cleanup is how a test releases what it leases.
type Cleanup interface{ Cleanup(func()) }

// ForTest leases a worker ID for a test.
func ForTest(ctx context.Context, t Cleanup, db *sql.DB) (*worker.Generator, error) {
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err == nil {
		t.Cleanup(func() { gen.Close(context.WithoutCancel(ctx)) }) // OK 58: closed by the test
	}
	return gen, err
}
