package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/DATA-DOG/go-sqlmock"

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

// This database stands for a PostgreSQL with a standby that commits do not wait for.
func ExampleStore_Warnings() {
	db, postgres, err := sqlmock.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	setting := func(query, value string) {
		postgres.ExpectQuery(query).WillReturnRows(sqlmock.NewRows([]string{""}).AddRow(value))
	}
	setting("fsync", "on")
	setting("synchronous_standby_names", "")
	setting("pg_stat_replication", `an asynchronous standby "walreceiver"`)

	store, err := sqlstore.New(db, sqlstore.Config{Dialect: sqlstore.Postgres})
	if err != nil {
		fmt.Println(err)
		return
	}
	warnings, err := store.Warnings(context.Background())
	fmt.Println(warnings, err)
	// Output: [synchronous_standby_names is empty, and there is an asynchronous standby "walreceiver": a standby that is promoted may lack acknowledged writes, which makes duplicates possible; set synchronous_standby_names, or never promote it] <nil>
}
