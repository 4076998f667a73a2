package etcdstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// connect makes its own client, as another process has one.
func connect(t *testing.T, endpoints string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(endpoints, ","), Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestStore(t *testing.T) {
	server := testserver.Etcd(t)
	operator := mustNew(New(connect(t, server.DSN), Config{Prefix: "t"}))
	storetest.Run(t, storetest.Config{
		Hung: paused,
		Put:  operator.replace,
		Open: func(t *testing.T) driver.Store { return mustNew(New(connect(t, server.DSN), Config{Prefix: "t"})) },
	})
}

// replace replaces a namespace, as an operator would. Presence keys are gone after it.
func (s *Store) replace(t *testing.T, st driver.State) {
	t.Helper()
	name := st.Namespace.Name
	for _, prefix := range []string{s.namespaceKey(name), s.recordKeys(name), s.presenceKeys(name)} {
		options := []clientv3.OpOption{clientv3.WithPrefix()}
		if prefix == s.namespaceKey(name) {
			options = nil
		}
		if _, err := s.client.Delete(t.Context(), prefix, options...); err != nil {
			t.Fatal(err)
		}
	}
	if !st.Missing {
		s.set(t, s.namespaceKey(name), encode(st.Namespace))
	}
	for _, rec := range st.Records {
		s.set(t, s.recordKey(name, rec.Worker), encode(rec))
	}
}

func (s *Store) set(t *testing.T, key, value string) {
	t.Helper()
	if _, err := s.client.Put(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

// paused returns the store of a server that does not answer.
func paused(t *testing.T) driver.Store {
	server := testserver.NewEtcd(t)
	store := mustNew(New(connect(t, server.DSN), Config{Clock: func(context.Context) (time.Time, error) { return time.Now(), nil }}))
	if _, err := store.Reserve(t.Context(), "starts", 1); err != nil { // it is connected
		t.Fatal(err)
	}
	must(t, server.Pause())
	t.Cleanup(func() { _ = server.Resume() })
	return store
}

// A generator leases a worker ID from etcd, and Close gives it back.
func TestOpen(t *testing.T) {
	store := mustNew(New(connect(t, testserver.Etcd(t).DSN), Config{}))
	cfg := worker.Config{Namespace: newNamespace()}
	for range 2 {
		gen, err := worker.Open(t.Context(), store, cfg)
		must(t, err)
		if _, err := gen.Next(t.Context()); err != nil || gen.Worker() > 1 {
			t.Errorf("worker ID %d, %v", gen.Worker(), err)
		}
		if err := gen.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var config *core.ConfigError
	if store, err := New(nil, Config{}); store != nil || !errors.As(err, &config) {
		t.Errorf("%v, %v", store, err)
	}
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
