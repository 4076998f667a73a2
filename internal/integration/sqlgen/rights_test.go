package sqlgen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A role without rights on the generator's tables cannot stop the ids of others. It tries to lock all that the
// generator has. Any role can take an advisory lock, so the generator has none.
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
			if strings.Contains(script(t)(g.Create()).String(), "_advisory_") {
				t.Error("the generator takes advisory locks")
			}
			run(t, conn, "CREATE SCHEMA app")
			createWithClock(t, conn, g)
			run(t, conn, "DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger")
			defer run(t, conn, "DROP OWNED BY stranger", "DROP ROLE stranger")
			run(t, conn, grants...)

			run(t, stranger, "SET ROLE stranger", "BEGIN")
			defer run(t, stranger, "ROLLBACK")
			var holds []string
			for _, statement := range locks(t, conn) {
				run(t, stranger, "SAVEPOINT s")
				if _, err := stranger.Exec(t.Context(), statement); err != nil {
					run(t, stranger, "ROLLBACK TO s")
					continue
				}
				holds = append(holds, statement)
			}
			t.Logf("the stranger holds what %q takes", holds)

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

// locks are statements that lock each table and view of the generator. The server takes those of PREPARE and
// ANALYZE before it looks at rights. A lock on the sequence keeps a claim waiting, as any transaction with an id does.
func locks(t *testing.T, conn *pgx.Conn) (statements []string) {
	t.Helper()
	rows, _ := conn.Query(t.Context(), "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'v')")
	relations, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	for i, relation := range relations {
		for _, mode := range []string{"ACCESS EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "ACCESS SHARE"} {
			statements = append(statements, "LOCK TABLE "+relation+" IN "+mode+" MODE")
		}
		statements = append(statements, fmt.Sprintf("PREPARE d%d AS DELETE FROM %s", i, relation), fmt.Sprintf("PREPARE u%d AS SELECT 1 FROM %s FOR UPDATE", i, relation), "ANALYZE "+relation)
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
			refused(t, conn, "P0001", name+` belongs to the role "stranger"`, script(t)(orders.Create())[3])
			run(t, conn, "DROP "+c.kind+" "+c.name)
		})
	}
	create(t, conn, orders)
	run(t, conn, next, "GRANT ALL ON SCHEMA public TO stranger", "SET ROLE stranger")
	refused(t, conn, "P0001", `not to "stranger": run this script as that role`, script(t)(orders.Create())[3])
}
