package forget

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func etcdClient(t *testing.T, server *testserver.Server) *clientv3.Client {
	t.Helper()
	c := engines.MustNew(clientv3.New(clientv3.Config{Endpoints: []string{server.DSN}, Logger: zap.NewNop(), DialTimeout: time.Second}))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func etcdSite(t *testing.T, server *testserver.Server) *site {
	t.Helper()
	open := func(t *testing.T) *etcdstore.Store {
		t.Helper()
		return engines.MustNew(etcdstore.New(etcdClient(t, server), etcdstore.Config{}))
	}
	return &site{
		open:  func(t *testing.T) driver.Store { t.Helper(); return open(t) },
		admin: func(t *testing.T) admin { t.Helper(); return open(t) },
		believe: func(t *testing.T, ns driver.Namespace) {
			t.Helper()
			text := engines.MustNew(json.Marshal(ns))
			_, err := etcdClient(t, server).Put(t.Context(), "snowkey#namespace#"+ns.Name, string(text))
			must(t, err)
		},
	}
}

func TestEtcd(t *testing.T) {
	t.Run("snapshot restored", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewEtcd(t)
		s := etcdSite(t, server)
		file := filepath.Join(t.TempDir(), "snapshot")
		s.keep = func(t *testing.T) {
			t.Helper()
			from := engines.MustNew(etcdClient(t, server).Snapshot(t.Context()))
			to := engines.MustNew(os.Create(file))
			_, err := io.Copy(to, from)
			must(t, errors.Join(err, to.Close(), from.Close()))
		}
		s.event = func(t *testing.T) {
			t.Helper()
			must(t, server.Kill())
			must(t, server.RestoreEtcd(file))
			must(t, server.Start())
		}
		prove(t, "etcd: snapshot restored", *s)
	})
	// Nothing shows this, so an operator raises the floor before programs start.
	t.Run("data directory put back, and the floor raised", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewEtcd(t)
		s := etcdSite(t, server)
		s.keep, s.event = snapshots(server)
		s.raise = func(t *testing.T, namespace string) {
			t.Helper()
			_, err := s.admin(t).Raise(t.Context(), namespace, 0)
			must(t, err)
		}
		prove(t, "etcd: data directory put back, and the floor raised", *s)
	})
	t.Run("clean restart", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewEtcd(t)
		s := etcdSite(t, server)
		s.event = func(t *testing.T) { t.Helper(); must(t, server.Restart()) }
		unharmed(t, "etcd: clean restart", *s)
	})
}
