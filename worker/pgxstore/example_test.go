package pgxstore_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
)

// One call makes a generator whose ids differ from those of all processes in the namespace. In
// examples/readme it runs with a database.
func ExampleOpen() {
	var pool *pgxpool.Pool // in earnest: pgxpool.New(ctx, "postgres://…")
	ctx := context.Background()
	gen, err := pgxstore.Open(ctx, pool, worker.Config{Namespace: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close(context.Background())
	id, err := gen.Next(ctx)
	fmt.Println(id, gen.Worker(), gen.Failing(), err)
	// Output: pgxstore: pool nil: must be an open *pgxpool.Pool
}
