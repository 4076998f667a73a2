package readme

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

type Note struct {
	ID   sqltype.ID // a key of this type needs no tag
	Text string
}

func serve(ctx context.Context, db *gorm.DB) error {
	var plugin gormplugin.Plugin
	if err := db.Use(&plugin); err != nil { // leases a worker ID from db
		return err
	}
	defer plugin.Close(context.Background()) // releases the worker ID
	notes := []Note{{Text: "first"}, {Text: "second"}}
	if err := db.WithContext(ctx).Create(&notes).Error; err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(notes)
}

func withPgx(ctx context.Context, pool *pgxpool.Pool) (*worker.Generator, error) {
	return pgxstore.Open(ctx, pool, sqlstore.Config{})
}

func withSQL(ctx context.Context, db *sql.DB) (*worker.Generator, error) {
	return sqlstore.Open(ctx, db, sqlstore.Config{})
}

func insertNote(ctx context.Context, db *sql.DB, gen *worker.Generator) (sqltype.ID, error) {
	id, err := gen.Next(ctx) // gen.Fill fills a slice
	if err != nil {
		return 0, err
	}
	_, err = db.ExecContext(ctx, "INSERT INTO notes (id, text) VALUES (?, ?)", id, "first")
	return sqltype.ID(id), err
}

func openOrders(ctx context.Context, db *sql.DB) (*worker.Generator, error) {
	return sqlstore.Open(ctx, db, sqlstore.Config{Lease: worker.Config{
		Namespace:   "orders",         // its ids may equal those of other namespaces
		FenceWindow: 90 * time.Second, // ids continue for a minute without the database
	}})
}
