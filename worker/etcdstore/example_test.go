package etcdstore_test

import (
	"context"
	"fmt"
	"net/http"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/etcdstore"
)

// It needs an etcd, so it is compiled and not run.
func ExampleNew() { //nolint:testableexamples // it needs an etcd
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://localhost:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	store := etcdstore.New(client, etcdstore.Config{
		Clock: etcdstore.HTTPClock("http://localhost:2379", http.DefaultClient),
	})
	lease, err := worker.Acquire(context.Background(), store, worker.Config{Namespace: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Close()
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Next(context.Background()))
}

// What is wrong with the configuration is told by the first call.
func ExampleConfig() {
	store := etcdstore.New(nil, etcdstore.Config{})
	_, err := store.Count(context.Background(), "starts")
	fmt.Println(err)
	// Output: worker: client nil: must be an open *clientv3.Client
}

// In earnest the client is an etcd's, and the counter counts the starts of a program.
func ExampleStore_Count() {
	store := etcdstore.New(nil, etcdstore.Config{})
	_, _, err := worker.FromCounter(context.Background(), store, core.Layout{}, "starts")
	fmt.Println(err)
	// Output: worker: counter "starts": worker: client nil: must be an open *clientv3.Client
}

// Without a clock to compare with, a wrong clock is not noticed.
func ExampleStore_Warnings() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://etcd:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	warnings, err := etcdstore.New(client, etcdstore.Config{Clock: etcdstore.HTTPClock("https://etcd:2379", nil)}).Warnings(context.Background())
	fmt.Println(warnings, err)
	warnings, err = etcdstore.New(client, etcdstore.Config{}).Warnings(context.Background())
	fmt.Println(len(warnings), err)
	// Output:
	// [] <nil>
	// 1 <nil>
}
