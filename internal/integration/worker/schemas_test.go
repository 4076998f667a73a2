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
		return acquire(t, mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true, Table: table})), cfg)
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
	refused(acquire(admin, "a.snow_worker", "orders"), `"a.snow_worker"`, "public.snow_worker_space", `"orders"`)
	if err := acquire(admin, "a.snow_worker", "other"); err != nil { // the refusal has written nothing
		t.Error(err)
	}
	refused(acquire(admin, "", "other"), `"public.snow_worker"`, "a.snow_worker_space")
	if err := acquire(admin, "", "orders"); err != nil {
		t.Error(err)
	}
	if err := acquire(admin, "a.another", "orders"); err != nil { // a table with another name is another matter
		t.Error(err)
	}
	mustExec(t, admin, `CREATE TABLE "B-2".snow_worker_space (space text, layout text)`, `INSERT INTO "B-2".snow_worker_space VALUES ('orders', 'x')`)
	refused(acquire(admin, "", "orders"), `"B-2".snow_worker_space`)

	// A role sees what it may use.
	role := strings.TrimPrefix(e.url(t).Path, "/") + "_role"
	mustExec(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'x'", "GRANT ALL ON ALL TABLES IN SCHEMA public TO "+role)
	t.Cleanup(func() { mustExec(t, admin, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	db := e.as(t, role).open(t)
	if err := acquire(db, "", "orders"); err != nil {
		t.Error(err)
	}
	mustExec(t, admin, `GRANT USAGE ON SCHEMA "B-2" TO `+role)
	refused(acquire(db, "", "orders"), `"B-2".snow_worker_space`, "GRANT SELECT")
	mustExec(t, admin, `GRANT SELECT ON "B-2".snow_worker_space TO `+role)
	refused(acquire(db, "", "orders"), `"B-2".snow_worker_space`)
	mustExec(t, admin, `TRUNCATE "B-2".snow_worker_space`)
	if err := acquire(db, "", "orders"); err != nil {
		t.Error(err)
	}
}

// Of two first claims at the same time, in two schemas, at most one is granted.
func TestFirstClaimsInTwoSchemas(t *testing.T) {
	for round := range 5 {
		e := newPostgres(t).with(t, "search_path", "a")
		mustExec(t, e.open(t), "CREATE SCHEMA a")
		var granted atomic.Int64
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				table := []string{"a.snow_worker", "public.snow_worker"}[i%2]
				err := acquire(t, mustNew(sqlstore.New(e.open(t), sqlstore.Config{AllowDataLoss: true, Table: table})), once)
				if err == nil {
					granted.Add(1 << (16 * (i % 2)))
				} else if !strings.Contains(err.Error(), "two holders") {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := granted.Load(); n != 4 && n != 4<<16 {
			t.Errorf("round %d: granted in both schemas, or in none: %x", round, n)
		}
	}
}

// The first claim of a namespace waits for a transaction that may be making it in another schema, and
// then finds it there.
func TestFirstClaimWaitsForAnother(t *testing.T) {
	e := newPostgres(t)
	admin := e.open(t)
	must(t, acquire(t, mustNew(sqlstore.New(admin, sqlstore.Config{AllowDataLoss: true})), once)) // makes the tables
	mustExec(t, admin, "CREATE SCHEMA a", "CREATE TABLE a.snow_worker_space (space text, layout text)")
	tx, err := admin.Begin()
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	for _, statement := range []string{"SELECT pg_advisory_xact_lock(32491047082517881)", "INSERT INTO a.snow_worker_space VALUES ('orders', 'x')"} {
		_, err := tx.Exec(statement)
		must(t, err)
	}
	claimed := make(chan error, 1)
	go func() {
		cfg := once
		cfg.Namespace = "orders"
		claimed <- acquire(t, e.store(t), cfg)
	}()
	await(t, "claim that waits", func() bool {
		select {
		case err := <-claimed:
			t.Fatalf("it has not waited: %v", err)
		default:
		}
		var waits bool
		must(t, admin.QueryRow("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))").Scan(&waits))
		return waits
	})
	must(t, tx.Commit())
	if err := <-claimed; err == nil || !strings.Contains(err.Error(), "a.snow_worker_space") {
		t.Errorf("%v", err)
	}
}
