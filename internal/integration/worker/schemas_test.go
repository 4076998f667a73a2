package worker

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Sessions with a schema each use one table, so they hold different worker IDs.
func TestSearchPath(t *testing.T) {
	e := newPostgres(t)
	mustExec(t, e.open(t), "CREATE SCHEMA a", "CREATE SCHEMA b")
	held := map[int64]string{}
	for _, path := range []string{"a", "b", "a,b,public", "pg_temp"} {
		gen, err := worker.Open(t.Context(), e.with(t, "search_path", path).store(t), once)
		must(t, err)
		defer gen.Close(context.Background())
		if other, taken := held[gen.Worker()]; taken {
			t.Errorf("search_path %s: worker ID %d is also held with %s", path, gen.Worker(), other)
		}
		held[gen.Worker()] = path
	}
	for n := range 3 { // counters as well
		if got, err := e.with(t, "search_path", []string{"a", "b", "public"}[n]).store(t).Reserve(t.Context(), "starts", 1); err != nil || got != int64(n+1) {
			t.Errorf("%d, %v", got, err)
		}
	}
}

// A namespace in two schemas of a database is refused, and the error names both.
func TestNamespaceInAnotherSchema(t *testing.T) {
	e := newPostgres(t)
	admin := e.open(t)
	mustExec(t, admin, "CREATE SCHEMA a", `CREATE SCHEMA "B-2"`)
	acquire := func(db *sql.DB, table, namespace string) error {
		cfg := once
		cfg.Namespace = namespace
		return acquire(t, mustNew(sqlstore.New(db, sqlstore.Config{Table: table})), cfg)
	}
	refused := func(err error, names ...string) {
		t.Helper()
		var config *core.ConfigError
		if !errors.As(err, &config) || config.Fields[0].Field != "Table" {
			t.Fatalf("not refused: %v", err)
		}
		for _, name := range names {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%v: no %s", err, name)
			}
		}
	}
	must(t, acquire(admin, "", "orders"))
	refused(acquire(admin, "a.snow_lease", "orders"), `"a.snow_lease"`, "public.snow_namespace", `"orders"`)
	if err := acquire(admin, "a.snow_lease", "other"); err != nil { // the refusal has written nothing
		t.Error(err)
	}
	refused(acquire(admin, "", "other"), `"public.snow_lease"`, "a.snow_namespace")
	if err := acquire(admin, "", "orders"); err != nil {
		t.Error(err)
	}
	if err := acquire(admin, "a.another", "orders"); err != nil { // a table with another name is another matter
		t.Error(err)
	}
	mustExec(t, admin, `CREATE TABLE "B-2".snow_namespace (namespace text, incarnation text, version bigint)`, `INSERT INTO "B-2".snow_namespace VALUES ('orders', 'x', 1)`)
	refused(acquire(admin, "", "orders"), `"B-2".snow_namespace`)

	// A role sees what it may use.
	role := strings.TrimPrefix(e.url(t).Path, "/") + "_role"
	mustExec(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'x'", "GRANT ALL ON ALL TABLES IN SCHEMA public TO "+role)
	t.Cleanup(func() { mustExec(t, admin, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	db := e.as(t, role).open(t)
	if err := acquire(db, "", "orders"); err != nil {
		t.Error(err)
	}
	mustExec(t, admin, `GRANT USAGE ON SCHEMA "B-2" TO `+role)
	if err := acquire(db, "", "orders"); err != nil { // it cannot use that one
		t.Error(err)
	}
	mustExec(t, admin, `GRANT SELECT ON "B-2".snow_namespace TO `+role)
	refused(acquire(db, "", "orders"), `"B-2".snow_namespace`)
	mustExec(t, admin, `TRUNCATE "B-2".snow_namespace`)
	if err := acquire(db, "", "orders"); err != nil {
		t.Error(err)
	}
}

// Of first claims at the same time, in two schemas, those of one are granted at most.
func TestFirstClaimsInTwoSchemas(t *testing.T) {
	for round := range 5 {
		e := newPostgres(t).with(t, "search_path", "a")
		mustExec(t, e.open(t), "CREATE SCHEMA a")
		var granted atomic.Int64
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				table := []string{"a.snow_lease", "public.snow_lease"}[i%2]
				err := acquire(t, mustNew(sqlstore.New(e.open(t), sqlstore.Config{Table: table})), once)
				if err == nil {
					granted.Add(1 << (16 * (i % 2)))
				} else if !strings.Contains(err.Error(), "two holders") {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := granted.Load(); n&0xffff > 0 && n>>16 > 0 {
			t.Errorf("round %d: granted in both schemas: %x", round, n)
		}
	}
}
