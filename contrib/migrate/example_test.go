package migrate_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

func ExampleRun() { //nolint:testableexamples // it needs a database
	ctx := context.Background()
	db, err := sql.Open("pgx", "postgres://localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	result, err := migrate.Run(ctx, db, migrate.Config{
		Table:    "orders",
		Progress: func(step migrate.Step, done, total int64) { fmt.Println(step.Name, step.Table, done, "of", total) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(result.Steps), "steps are done")
}
