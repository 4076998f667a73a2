package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// What is wrong with the database is told by the first claim; so is one that is missing.
func ExampleNew() {
	var db *sql.DB // in earnest: sql.Open("pgx", "postgres://…")
	store := sqlstore.New(db, sqlstore.Config{})
	_, err := worker.Acquire(context.Background(), store, worker.Config{Space: "orders"})
	var wrong *worker.ConfigError
	if errors.As(err, &wrong) {
		fmt.Println(wrong)
	}
	// Output: worker: db nil: must be an open *sql.DB, given to New
}
