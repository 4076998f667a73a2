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
	gen, err := sqlstore.Open(ctx, db, worker.Config{Namespace: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close(context.Background())
	id, err := gen.Next(ctx)
	fmt.Println(id, gen.Worker(), gen.Failing(), err)
	// Output: sqlstore: db nil: must be an open *sql.DB
}

// ClaimAt names the process that made an id.
func ExampleStore_ClaimAt() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a separate database in memory
	gen, err := sqlstore.Open(ctx, db, worker.Config{Owner: "pod-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close(context.Background())
	id, _ := gen.Next(ctx)

	store, _ := sqlstore.New(db, sqlstore.Config{})
	parts, _ := core.Twitter().Decode(id)
	claim, err := store.ClaimAt(ctx, "default", parts.Datacenter<<5|parts.Worker, parts.Time)
	if claim == nil {
		fmt.Println("unknown", err)
		return
	}
	fmt.Println(claim.Owner, claim.Present)
	// Output: pod-1 true
}
