package readme

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

type Note struct {
	ID   sqltype.ID // the key: every create fills it
	Text string
}

func serve(ctx context.Context, db *gorm.DB) error {
	gen, err := gormplugin.Open(ctx, db, gormplugin.OpenConfig{}) // leases a worker ID from db
	if err != nil {
		return err // it says what to do
	}
	defer gen.Close(context.Background()) // releases the worker ID
	return db.WithContext(ctx).Create(&Note{Text: "first"}).Error
}

// withPgx makes ids for a program with pgx alone.
func withPgx(ctx context.Context, pool *pgxpool.Pool) (*sqlstore.Generator, error) {
	return pgxstore.Open(ctx, pool, sqlstore.OpenConfig{})
}

// withSQL makes ids for a program with database/sql alone.
func withSQL(ctx context.Context, db *sql.DB) (*sqlstore.Generator, error) {
	return sqlstore.Open(ctx, db, sqlstore.OpenConfig{})
}
