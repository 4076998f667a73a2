package etcd

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// connect makes a client of its own, as another process has one.
func connect(t *testing.T, server *testserver.Server) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(server.DSN, ","), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestStore(t *testing.T) {
	server := testserver.Etcd(t)
	storetest.Run(t, storetest.Harness{Open: func(t *testing.T) driver.Store {
		return mustNew(New(connect(t, server), Config{Prefix: "t"}))
	}})
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
