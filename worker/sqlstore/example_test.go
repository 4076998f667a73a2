package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// New reports every field that has a wrong value. It does not use the database.
func ExampleNew() {
	var db *sql.DB // in a program: from sql.Open("pgx", "postgres://…")
	_, err := sqlstore.New(db, sqlstore.Config{Table: "1st"})
	var wrong *core.ConfigError
	if errors.As(err, &wrong) {
		fmt.Println(wrong)
	}
	// Output: sqlstore: db nil: must be an open *sql.DB; Table "1st": must be a name of at most 48 letters, digits and _, optionally with a schema and a dot before it
}

// One call makes a generator whose ids differ from those of all processes in the namespace. In
// examples/readme it runs with a database.
func ExampleOpen() {
	var db *sql.DB // in earnest: sql.Open("pgx", "postgres://…")
	ctx := context.Background()
	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{Lease: worker.Config{Namespace: "orders"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close(context.Background())
	id, err := gen.Next(ctx)
	fmt.Println(id, gen.Worker(), gen.Failing(), err)
	// Output: sqlstore: db nil: must be an open *sql.DB
}
