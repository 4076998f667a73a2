package cli

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// leased opens a database in which a worker ID of the namespace default is leased until the test ends:
// of one datacenter, or -1 for all.
func leased(t *testing.T, driver, dsn string, datacenter, id int64) *sql.DB {
	t.Helper()
	db := openDB(t, driver, dsn)
	cfg := worker.Config{Preferred: &id, RequirePreferred: true, FenceWindow: time.Hour}
	if datacenter >= 0 {
		cfg.Datacenter = &datacenter
	}
	lease, err := sqlstore.Open(t.Context(), db, cfg)
	must(t, err)
	t.Cleanup(func() { _ = lease.Close(context.Background()) })
	return db
}

// A namespace of one datacenter is examined with the number of worker IDs that this has.
func TestDoctorDatacenter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	leased(t, "sqlite", file, 3, 97)
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
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	db := leased(t, "pgx", dsn, -1, 0)
	if d := examine(t, Env{}, "--dsn", dsn); d.says("logical replication") != "" {
		t.Errorf("%+v", d.Checks)
	}
	for _, c := range []struct {
		statement string
		status    doctor.Status
		says      string
	}{
		{"CREATE PUBLICATION shop", doctor.OK, "does not have the tables of the leases"},
		{"CREATE PUBLICATION everything FOR ALL TABLES", doctor.Warn, "publication everything has public.snow_lease, publication everything has public.snow_namespace"},
	} {
		execute(t, db, c.statement)
		examine(t, Env{}, "--dsn", dsn).want(t, "logical replication", c.status, c.says)
	}
}

// says returns the detail of a check.
func (d diagnosis) says(name string) string {
	for _, c := range d.Checks {
		if c.Name == name {
			return c.Detail
		}
	}
	return ""
}
