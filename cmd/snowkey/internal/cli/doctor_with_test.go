package cli

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
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

// fence is the earlier fence of a record of each node.
func (n *twoNodes) fence(t *testing.T, namespace string, records ...int64) string {
	t.Helper()
	var fences []int64
	for i, s := range n.store {
		all, err := s.List(t.Context(), namespace)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range all {
			if rec.Worker == records[i] {
				fences = append(fences, rec.Fence)
			}
		}
	}
	if len(fences) != 2 {
		t.Fatalf("%d fences", len(fences))
	}
	return timetext.Format(time.UnixMilli(slices.Min(fences)))
}

func TestDoctorWith(t *testing.T) {
	for _, c := range []struct {
		name, driver string
		dsns         func(t *testing.T) []string
	}{
		{"PostgreSQL", "pgx", func(t *testing.T) []string {
			return []string{testserver.NewPostgres(t).DSN, testserver.NewPostgres(t).DSN}
		}},
		{"MariaDB", "mysql", func(t *testing.T) []string {
			return []string{testserver.NewMariaDB(t).DSN, testserver.NewMariaDB(t).DSN}
		}},
		{"SQLite", "sqlite", func(t *testing.T) []string {
			dir := t.TempDir()
			return []string{"file:" + filepath.Join(dir, "a.db"), "file:" + filepath.Join(dir, "b.db")}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doctorWith(t, openNodes(t, c.driver, c.dsns(t)...))
		})
	}
}

func doctorWith(t *testing.T, n *twoNodes) {
	twitter, discord := core.Twitter(), core.Discord()
	n.lease(t, 0, "alone", twitter, -1, 1)
	n.lease(t, 0, "apart", twitter, 0, 1)
	n.lease(t, 1, "apart", twitter, 1, 33)
	n.lease(t, 0, "assigned", twitter, -1, 1)
	n.lease(t, 1, "assigned", twitter, -1, 2)
	n.lease(t, 0, "layouts", twitter, -1, 1)
	n.lease(t, 1, "layouts", discord, -1, 1)
	n.lease(t, 0, "mixed", twitter, 3, 96)
	n.lease(t, 0, "mixed", twitter, 3, 97)
	n.lease(t, 1, "mixed", twitter, -1, 97)
	n.lease(t, 1, "mixed", twitter, -1, 0)
	n.lease(t, 0, "same", twitter, 3, 96)
	n.lease(t, 1, "same", twitter, 3, 97)
	for _, id := range []int64{7, 8, 9} {
		n.lease(t, 0, "shared", twitter, -1, id)
		n.lease(t, 1, "shared", twitter, -1, id+1)
	}
	overlaps := map[string][]doctor.Overlap{
		`namespace "mixed"`:  {{WorkerID: 97, Before: n.fence(t, "mixed", 1, 97)}},
		`namespace "shared"`: {{WorkerID: 8, Before: n.fence(t, "shared", 8, 8)}, {WorkerID: 9, Before: n.fence(t, "shared", 9, 9)}},
	}

	d := examine(t, Env{}, "--dsn", n.dsn[0], "--with", n.dsn[1])
	if d.OK {
		t.Error("it passes")
	}
	for _, check := range d.Checks {
		if want := overlaps[check.Name]; !slices.Equal(check.Overlaps, want) {
			t.Errorf("%s: %+v, want %+v", check.Name, check.Overlaps, want)
		}
	}
	got := run(t, "doctor", "--dsn", n.dsn[0], "--with", n.dsn[1])
	got.out = n.masked(t, got.out)
	compare(t, "doctor-with", "snowkey doctor --dsn FIRST --with SECOND", got)

	for namespace, ok := range map[string]bool{"apart": true, "assigned": true, "alone": true, "none": true, "same": false} {
		t.Run("only "+namespace, func(t *testing.T) {
			d := examine(t, Env{}, "--dsn", n.dsn[1], "--with", n.dsn[0], "--namespace", namespace)
			failed := 0
			for _, check := range d.Checks {
				if strings.HasPrefix(check.Name, "namespace") && check.Status == doctor.Fail {
					failed++
				}
			}
			if (failed == 0) != ok {
				t.Errorf("%+v", d.Checks)
			}
		})
	}
	t.Run("itself", func(t *testing.T) {
		d := examine(t, Env{}, "--dsn", n.dsn[0], "--with", n.dsn[0])
		d.want(t, `namespace "shared"`, doctor.Fail, "the same lease of worker ID 7, 8, 9: they are one database")
	})
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// masked returns what --with adds, without what differs each time.
func (n *twoNodes) masked(t *testing.T, out string) string {
	t.Helper()
	for i, text := range n.dsn {
		d, err := dsn.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		out = strings.ReplaceAll(out, d.Name, []string{"FIRST", "SECOND"}[i])
	}
	_, out, found := strings.Cut(out, "ok    other node")
	out, _, _ = strings.Cut(out, "\n\n")
	if !found {
		t.Fatalf("no other node in\n%s", out)
	}
	return "…\nok    other node" + moment.ReplaceAllString(out, "TIME") + "\n…\n"
}

// A second node that cannot be reached or compared.
func TestDoctorWithout(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	if got := run(t, "gen", "--lease", file); got.code != 0 {
		t.Fatal(got.err)
	}
	const secret = "s3cr3t-p4ss"
	d := examine(t, Env{}, "--dsn", file, "--with", "postgres://u:"+secret+"@127.0.0.1:1/x")
	d.want(t, "other node", doctor.Fail, "PostgreSQL 127.0.0.1:1/x")
	d.want(t, "worker IDs", doctor.OK, "")
	if strings.Contains(fmt.Sprint(d), secret) {
		t.Error("it shows the password")
	}
	for _, c := range []struct{ dsn, with, says string }{
		{file, "", `--with "": must not be empty`},
		{file, " ", "--with: is empty: must be postgres://…"},
		{file, "env:UNSET", `--with "env:UNSET": the environment variable "UNSET" is not set`},
		{file, "oracle://h/x", "--with: must be postgres://…"},
		{file, "redis://127.0.0.1:1", "--with: compares PostgreSQL, MySQL, MariaDB and SQLite only, not Redis"},
		{"redis://127.0.0.1:1", file, "not Redis"},
	} {
		t.Run(c.with, func(t *testing.T) {
			if got := run(t, "doctor", "--dsn", c.dsn, "--with", c.with); got.code != 2 || !strings.Contains(got.err, c.says) {
				t.Errorf("exit code %d: %s%s", got.code, got.out, got.err)
			}
		})
	}
	other := filepath.Join(filepath.Dir(file), "b.db")
	if db, err := sql.Open("sqlite", other); err != nil {
		t.Fatal(err)
	} else if _, err := db.Exec("CREATE TABLE orders (id bigint)"); err != nil {
		t.Fatal(err)
	} else {
		_ = db.Close()
	}
	examine(t, Env{}, "--dsn", file, "--with", other).want(t, "namespaces", doctor.OK, `0 on both; "default" only on SQLite `+file)
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

// Logical replication of the tables of the leases is a warning on either side.
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
		d := examine(t, Env{}, "--dsn", n.dsn[0], "--with", n.dsn[1])
		d.want(t, "logical replication", first, says)
		d.want(t, "logical replication of the other node", second, "")
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

// Generators in SQL that take the highest worker ID of each node overlap, and those with a
// datacenter each do not.
func TestDoctorGenerators(t *testing.T) {
	n := openNodes(t, "pgx", testserver.NewPostgres(t).DSN, testserver.NewPostgres(t).DSN)
	first, second := int64(0), int64(1)
	for namespace, datacenters := range map[string][2]*int64{"highest": {}, "given": {&first, &second}} {
		for i, db := range n.db {
			script, err := ddl.Generator{Dialect: ddl.Postgres, Namespace: namespace, Datacenter: datacenters[i], Prefix: namespace + "_"}.Create()
			if err != nil {
				t.Fatal(err)
			}
			for _, statement := range script {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	d := examine(t, Env{}, "--dsn", n.dsn[0], "--with", n.dsn[1])
	d.want(t, `namespace "highest"`, doctor.Fail, "worker ID 1023 before "+timetext.Format(core.Twitter().End()))
	d.want(t, `namespace "given"`, doctor.OK, "no ID is equal")
}
