package memstore_test

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func ExampleNew() {
	store := memstore.New(memstore.Config{})
	for range 2 {
		gen, err := worker.Open(context.Background(), store, worker.Config{})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer gen.Close(context.Background())
		fmt.Println(gen.Worker())
	}
	// Output:
	// 0
	// 1
}
