package etcdstore_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// It needs an etcd, so it is compiled and not run.
func ExampleHTTPClock() { //nolint:testableexamples // it needs an etcd
	again := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}
	again.Backoff.MaxDelay = 3 * time.Second // after an outage; gRPC's is two minutes
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://localhost:2379"}, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(again)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	store, err := etcdstore.New(client, etcdstore.Config{Clock: etcdstore.HTTPClock("http://localhost:2379", http.DefaultClient)})
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := worker.Open(context.Background(), store, worker.Config{Namespace: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close(context.Background())
	fmt.Println(gen.Next(context.Background()))
}

// New reports every field that has a wrong value.
func ExampleNew() {
	_, err := etcdstore.New(nil, etcdstore.Config{Prefix: "a#b"})
	fmt.Println(err)
	// Output: etcdstore: client nil: must be an open *clientv3.Client; Prefix "a#b": must be at most 255 printable ASCII characters, without space and '#'
}

// Without a store from New, it returns an error.
func ExampleStore_Reserve() {
	var store *etcdstore.Store // in a program: from etcdstore.New
	_, err := store.Reserve(context.Background(), "starts", 1)
	fmt.Println(err)
	// Output: etcdstore: Store nil: must come from etcdstore.New
}

// Without a store from New, it returns an error.
func ExampleStore_Raise() {
	var store *etcdstore.Store // in a program: from etcdstore.New
	_, err := store.Raise(context.Background(), "orders", 0)
	fmt.Println(err)
	// Output: etcdstore: Store nil: must come from etcdstore.New
}
