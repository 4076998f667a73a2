package readme

import (
	"context"
	"database/sql"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
)

func insertNote(ctx context.Context, db *sql.DB, gen *worker.Generator) (sqltype.ID, error) {
	id, err := gen.Next(ctx) // gen.Fill fills a slice
	if err != nil {
		return 0, err
	}
	_, err = db.ExecContext(ctx, "INSERT INTO notes (id, text) VALUES (?, ?)", id, "first")
	return sqltype.ID(id), err
}
