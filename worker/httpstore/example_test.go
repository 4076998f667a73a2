package httpstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// A server that offers a store, and two programs that take leases from it.
func Example() {
	const secret = "from-the-secret-store" // 16 bytes or more
	handler, err := httpstore.NewHandler(memstore.New(memstore.Config{}), httpstore.HandlerConfig{Tokens: []string{secret}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/leases/", http.StripPrefix("/leases", handler))
	server := httptest.NewServer(mux)
	defer server.Close()

	for range 2 {
		store, err := httpstore.New(httpstore.Config{URL: server.URL + "/leases", Token: secret})
		if err != nil {
			fmt.Println(err)
			return
		}
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

func ExampleNewHandler() {
	_, err := httpstore.NewHandler(memstore.New(memstore.Config{}), httpstore.HandlerConfig{Tokens: []string{"short"}})
	fmt.Println(err)
	// Output: httpstore: Tokens[0] of 5 bytes: must have 16 to 512 printable ASCII characters, without spaces
}

func ExampleNew() {
	_, err := httpstore.New(httpstore.Config{URL: "ids.internal", Token: "from-the-secret-store"})
	var wrong *core.ConfigError
	if errors.As(err, &wrong) {
		fmt.Println(wrong)
	}
	// Output: httpstore: URL "ids.internal": must begin with https:// or http:// and name a host
}

func ExampleStoreError() {
	server := httptest.NewServer(http.NotFoundHandler()) // no lease store
	defer server.Close()
	store, err := httpstore.New(httpstore.Config{URL: server.URL, Token: "from-the-secret-store"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = store.Renew(context.Background(), driver.Renewal{})
	var said *httpstore.StoreError
	fmt.Println(errors.As(err, &said), said.Status, errors.Is(err, driver.ErrNotHeld))
	// Output: true 404 false
}

// worker.Open does not retry with a wrong token.
func ExampleStoreError_Permanent() {
	handler, err := httpstore.NewHandler(memstore.New(memstore.Config{}), httpstore.HandlerConfig{Tokens: []string{"from-the-secret-store"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	store, err := httpstore.New(httpstore.Config{URL: server.URL, Token: "from-another-store"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = worker.Open(context.Background(), store, worker.Config{Namespace: "orders"})
	var said *httpstore.StoreError
	if errors.As(err, &said) {
		fmt.Println(said.Permanent(), said)
	}
	// Output: true httpstore: claim: the server answered with 401 Unauthorized: the bearer token is missing or wrong; set Token to one that the server accepts
}

// starts counts; in earnest sqlstore, redisstore or etcdstore.
type starts struct {
	*memstore.Store
	n int64
}

func (c *starts) Reserve(_ context.Context, _ string, n int64) (int64, error) {
	c.n += n
	return c.n - n + 1, nil
}

func ExampleStore_Reserve() {
	const secret = "from-the-secret-store"
	handler, err := httpstore.NewHandler(&starts{Store: memstore.New(memstore.Config{})}, httpstore.HandlerConfig{Tokens: []string{secret}})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	store, err := httpstore.New(httpstore.Config{URL: server.URL, Token: secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		fmt.Println(store.Reserve(context.Background(), "orders", 500))
	}
	// Output:
	// 1 <nil>
	// 501 <nil>
}

// Only a handler with HandlerConfig.Admin raises floors.
func ExampleStore_Raise() {
	const secret = "from-the-secret-store"
	for _, admin := range []bool{false, true} {
		handler, err := httpstore.NewHandler(memstore.New(memstore.Config{}), httpstore.HandlerConfig{Tokens: []string{secret}, Admin: admin})
		if err != nil {
			fmt.Println(err)
			return
		}
		server := httptest.NewServer(handler)
		defer server.Close()
		store, err := httpstore.New(httpstore.Config{URL: server.URL, Token: secret})
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = store.Raise(context.Background(), "orders", 0)
		fmt.Println(errors.Is(err, errors.ErrUnsupported), err)
	}
	// Output:
	// true httpstore: raise: the server answered with 501 Not Implemented: raise is not offered here
	// false httpstore: raise: the server answered with 500 Internal Server Error: driver: there is no namespace "orders"
}
