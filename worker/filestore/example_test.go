package filestore_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/filestore"
)

func ExampleNew() {
	dir, err := os.MkdirTemp("", "leases")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for range 2 { // the worker ID is free again at once
		store, err := filestore.New(filestore.Config{Dir: dir})
		if err != nil {
			fmt.Println(err)
			return
		}
		gen, err := worker.Open(context.Background(), store, worker.Config{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(gen.Worker(), gen.Close(context.Background()))
	}
	// Output:
	// 0 <nil>
	// 0 <nil>
}

// A process that ends leaves its worker IDs to others at once; Close does the same.
func ExampleStore_Close() {
	dir, err := os.MkdirTemp("", "leases")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := filestore.New(filestore.Config{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := worker.Open(context.Background(), store, worker.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Worker(), gen.Close(context.Background()), store.Close())
	_, err = worker.Open(context.Background(), store, worker.Config{ClaimWait: -1})
	fmt.Println(err != nil)
	// Output:
	// 0 <nil> <nil>
	// true
}
