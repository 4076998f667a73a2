package sqlgen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A role without rights on the generator's tables cannot stop the ids of others. It tries to take
// each lock that a call takes, and those that a statement takes before the server looks at rights.
func TestStrangerCannotStopIDs(t *testing.T) {
	for name, grants := range map[string][]string{
		"connects only":   {"REVOKE ALL ON SCHEMA app FROM PUBLIC"},
		"calls functions": {"GRANT USAGE ON SCHEMA app TO stranger", "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA app TO stranger"},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := database(t)
			conn, stranger := connect(t, dsn), connect(t, dsn)
			g := orders
			g.Schema = "app"
			run(t, conn, "CREATE SCHEMA app")
			createWithClock(t, conn, g)
			run(t, conn, "DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger")
			defer run(t, conn, "DROP OWNED BY stranger", "DROP ROLE stranger")
			run(t, conn, grants...)

			locks := locksOfCall(t, conn, connect(t, dsn))
			run(t, stranger, "SET ROLE stranger", "BEGIN")
			defer run(t, stranger, "ROLLBACK")
			var holds []string
			for _, statement := range append(takes(locks), prepares(t, conn)...) {
				run(t, stranger, "SAVEPOINT s")
				if _, err := stranger.Exec(t.Context(), statement); err != nil {
					run(t, stranger, "ROLLBACK TO s")
					continue
				}
				holds = append(holds, statement)
			}
			t.Logf("a call takes %+v; the stranger holds what %q takes", locks, holds)

			run(t, conn, "SET statement_timeout = '5s'")
			defer run(t, conn, "RESET statement_timeout")
			var found ids
			var last int64
			for range 3 {
				found.add(t, &last, all(t, conn, "SELECT app.snowkey_next('orders') FROM generate_series(1, 1000)")...)
				run(t, conn, "SELECT test_step('6s')") // the next ids need another fence
				// A claim may fail meanwhile, but does not wait where it would keep others waiting.
				_, err := connect(t, dsn).Exec(t.Context(), "SELECT app.snowkey_claim('{7}')")
				if len(holds) > 0 != (err != nil) || err != nil && !strings.Contains(err.Error(), "snowkey_marker") {
					t.Errorf("a claim: %v", err)
				}
			}
		})
	}
}

// locksOfCall returns the locks that a session has seen another hold in calls of the generator. It
// looks until it has seen one that keeps other calls waiting.
func locksOfCall(t *testing.T, watcher, caller *pgx.Conn) (locks []lock) {
	t.Helper()
	pid := caller.PgConn().PID()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = caller.Exec(t.Context(), "DO 'BEGIN LOOP PERFORM app.snowkey_refill(''orders''); END LOOP; END'")
	}()
	excludes := func(l lock) bool { return l.Kind == "advisory" || l.Mode == "ShareUpdateExclusiveLock" }
	for deadline := time.Now().Add(time.Minute); !slices.ContainsFunc(locks, excludes); {
		rows, _ := watcher.Query(t.Context(), `SELECT locktype AS kind, coalesce(classid, 0)::bigint AS class, coalesce(objid, 0)::bigint AS object, coalesce(relation, 0)::regclass::text AS relation, mode
			FROM pg_locks WHERE pid = $1 AND (locktype = 'advisory' OR relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'app'::regnamespace))`, pid)
		some, err := pgx.CollectRows(rows, pgx.RowToStructByName[lock])
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range some {
			if !slices.Contains(locks, one) {
				locks = append(locks, one)
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no lock of a call was seen, only %+v", locks)
		}
	}
	run(t, watcher, "SELECT pg_cancel_backend("+itoa(pid)+")")
	<-done
	return locks
}

type lock struct {
	Kind          string
	Class, Object int64
	Relation      string
	Mode          string
}

// takes are statements that take these locks, or stronger ones.
func takes(locks []lock) (statements []string) {
	for _, l := range locks {
		switch l.Kind {
		case "advisory":
			statements = append(statements, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d, %d)", int32(l.Class), int32(l.Object)), fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", l.Class<<32|l.Object))
		case "relation":
			statements = append(statements, "LOCK TABLE "+l.Relation+" IN ACCESS EXCLUSIVE MODE", "LOCK TABLE "+l.Relation+" IN SHARE UPDATE EXCLUSIVE MODE", "LOCK TABLE "+l.Relation+" IN ACCESS SHARE MODE")
		}
	}
	return statements
}

// prepares are statements that lock each table and view of the generator without a right on it.
func prepares(t *testing.T, conn *pgx.Conn) (statements []string) {
	t.Helper()
	rows, _ := conn.Query(t.Context(), "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'v')")
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for i, table := range tables {
		statements = append(statements, fmt.Sprintf("PREPARE d%d AS DELETE FROM %s", i, table), fmt.Sprintf("PREPARE u%d AS SELECT 1 FROM %s FOR UPDATE", i, table), "ANALYZE "+table)
	}
	return statements
}

// A transaction of the owner that has analyzed the whole database does not stop ids while it is open.
func TestAnalyze(t *testing.T) {
	dsn := database(t)
	conn, owner := connect(t, dsn), connect(t, dsn)
	create(t, conn, orders)
	run(t, owner, "BEGIN", "ANALYZE")
	run(t, conn, "SET statement_timeout = '5s'", many)
	run(t, owner, "ROLLBACK")
}

// Without the table that flushes the log, a long transaction waits a few seconds for its ids.
func TestNoNewTable(t *testing.T) {
	server := testserver.New(t, testserver.KindPostgres)
	conn := connect(t, server.DSN)
	run(t, conn, testClock...)
	run(t, conn, "CREATE SCHEMA app", "CREATE ROLE maker", "GRANT ALL ON SCHEMA app TO maker", "GRANT UPDATE, SELECT ON ALL SEQUENCES IN SCHEMA public TO maker", "SET ROLE maker")
	g := orders
	g.Schema = "app"
	create(t, conn, g, serverClock, movedClock)
	run(t, conn, "RESET ROLE", "CREATE FUNCTION reject() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no tables''; END'")
	var found ids
	var last int64
	for _, c := range []struct{ name, before, after string }{
		{"an event trigger", "CREATE EVENT TRIGGER reject ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION reject()", "DROP EVENT TRIGGER reject"},
		{"no right", "REVOKE CREATE ON SCHEMA app FROM maker", "GRANT CREATE ON SCHEMA app TO maker"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, conn, c.before, "BEGIN")
			for range 3 {
				found.add(t, &last, all(t, conn, "SELECT app.snowkey_next('orders') FROM generate_series(1, 1000)")...)
				run(t, conn, "SELECT test_step('6s')")
			}
			run(t, conn, "COMMIT", c.after)
		})
	}
}

// A script refuses an object of another role, which could change it later: functions of the
// generator run with the rights of its owner.
func TestObjectOfStranger(t *testing.T) {
	conn := connect(t, database(t))
	run(t, conn, "DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger")
	defer run(t, conn, "RESET ROLE", "DROP OWNED BY stranger", "DROP ROLE stranger")
	for _, c := range []struct{ kind, name string }{{"FUNCTION", "snowkey_workers()"}, {"TABLE", "snowkey_generator"}, {"VIEW", "snowkey_lock"}} {
		t.Run(c.name, func(t *testing.T) {
			run(t, conn, map[string]string{"FUNCTION": "CREATE FUNCTION snowkey_workers() RETURNS bigint[] LANGUAGE sql IMMUTABLE RETURN '{}'::bigint[]", "TABLE": "CREATE TABLE snowkey_generator ()", "VIEW": "CREATE VIEW snowkey_lock AS SELECT 1 AS one"}[c.kind],
				"ALTER "+c.kind+" "+c.name+" OWNER TO stranger")
			name, _, _ := strings.Cut(c.name, "(")
			refused(t, conn, "P0001", name+` belongs to the role "stranger"`, script(t)(orders.Create())[2])
			run(t, conn, "DROP "+c.kind+" "+c.name)
		})
	}
	create(t, conn, orders)
	run(t, conn, next, "GRANT ALL ON SCHEMA public TO stranger", "SET ROLE stranger")
	refused(t, conn, "P0001", `not to "stranger": run this script as that role`, script(t)(orders.Create())[2])
}
