package backfill_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func ExampleRun() { //nolint:testableexamples // it needs a database
	ctx := context.Background()
	db, err := sql.Open("pgx", "postgres://localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := backfill.Run(ctx, db, backfill.Config{
		Dialect: ddl.Postgres, Table: "orders", CreatedAt: "created_at", Store: store,
		Progress: func(done, total int64) { fmt.Println(done, "of", total) },
	})
	var left *backfill.LeftError
	switch {
	case errors.As(err, &left):
		fmt.Println(left.Rows, "rows were written meanwhile")
	case err != nil:
		log.Fatal(err)
	}
	fmt.Println(result.Rows, "rows have ids of the worker ID", result.Worker)
}
