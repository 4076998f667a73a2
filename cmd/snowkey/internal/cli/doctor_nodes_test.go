package cli

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// twoNodes are databases of two servers, or two files.
type twoNodes struct {
	dsn   [2]string
	db    [2]*sql.DB
	store [2]*sqlstore.Store
}

func openNodes(t *testing.T, driver string, dsns ...string) *twoNodes {
	t.Helper()
	n := &twoNodes{}
	for i, dsn := range dsns {
		n.dsn[i] = dsn
		var err error
		if n.db[i], err = sql.Open(driver, dsn); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.db[i].Close() })
		if n.store[i], err = sqlstore.New(n.db[i], sqlstore.Config{AllowDataLoss: true}); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// lease leases a worker ID of a node until the test ends, of one datacenter, or -1 for all. It is
// not renewed meanwhile.
func (n *twoNodes) lease(t *testing.T, node int, namespace string, layout core.Layout, datacenter, id int64) {
	t.Helper()
	cfg := worker.Config{Namespace: namespace, Layout: layout, Preferred: &id, RequirePreferred: true, Owner: "test", FenceWindow: time.Hour}
	if datacenter >= 0 {
		cfg.Datacenter = &datacenter
	}
	lease, err := worker.Open(t.Context(), n.store[node], cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Close(context.Background()) })
}

// A namespace of one datacenter is examined with its own number of worker IDs.
func TestDoctorDatacenter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	n := openNodes(t, "sqlite", file, file)
	n.lease(t, 0, "default", core.Twitter(), 3, 97)
	d := examine(t, Env{}, "--dsn", file)
	d.want(t, "layout of the namespace", doctor.OK, `"default" is for datacenter 3 of this layout`)
	d.want(t, "worker IDs", doctor.OK, "1 of 32")
	if !d.OK {
		t.Errorf("%+v", d.Checks)
	}
	examine(t, Env{}, "--dsn", file, "--preset", "discord").want(t, "layout of the namespace", doctor.Fail, "epoch")
}

// Logical replication of the tables of the leases is a warning.
func TestDoctorReplication(t *testing.T) {
	n := openNodes(t, "pgx", testserver.New(t, testserver.KindPostgres, "-c", "wal_level=logical").DSN, testserver.NewPostgres(t).DSN)
	exec := func(node int, statement string) {
		t.Helper()
		if _, err := n.db[node].ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	check := func(first, second doctor.Status, says string) {
		t.Helper()
		examine(t, Env{}, "--dsn", n.dsn[0]).want(t, "logical replication", first, says)
		examine(t, Env{}, "--dsn", n.dsn[1]).want(t, "logical replication", second, "")
	}
	for i := range n.db {
		n.lease(t, i, "default", core.Twitter(), int64(i), int64(i)<<5)
		exec(i, "CREATE TABLE orders (id bigint PRIMARY KEY)")
	}
	if d := examine(t, Env{}, "--dsn", n.dsn[0]); d.says("logical replication") != "" {
		t.Errorf("%+v", d.Checks)
	}
	for i := range n.db {
		exec(i, "CREATE PUBLICATION shop FOR TABLE orders")
	}
	check(doctor.OK, doctor.OK, "does not have the tables of the leases")

	exec(0, "CREATE PUBLICATION everything FOR ALL TABLES")
	check(doctor.Warn, doctor.OK, "publication everything has public.snow_worker, publication everything has public.snow_worker_space")

	exec(1, "CREATE SUBSCRIPTION everything CONNECTION '"+n.dsn[0]+"' PUBLICATION everything WITH (copy_data = false)")
	defer exec(1, "DROP SUBSCRIPTION everything")
	check(doctor.Warn, doctor.Warn, "")
	if d := examine(t, Env{}, "--dsn", n.dsn[1]); !strings.Contains(d.says("logical replication"), "subscription everything fills snow_worker") {
		t.Errorf("%+v", d.Checks)
	}
}
