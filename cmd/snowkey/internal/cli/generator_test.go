package cli

import (
	"database/sql"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The printed script creates a generator, which workers list, workers free and doctor know as
// one, and the other script drops it.
func TestGenerator(t *testing.T) {
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	db := openDB(t, "pgx", dsn)
	paste := func(part string, more ...string) {
		t.Helper()
		paste(t, db, part, more...)
	}
	store := []string{"--dsn", dsn, "--namespace", "shop"}
	execute(t, db, "CREATE TABLE orders (id bigint PRIMARY KEY, note text)")
	paste("generator", "--table", "orders")
	var id int64
	if err := db.QueryRow("INSERT INTO orders (note) VALUES ('x') RETURNING id").Scan(&id); err != nil || id>>12&1023 != 1023 {
		t.Fatalf("id %d, %v", id, err)
	}

	listed := run(t, append([]string{"workers", "list"}, store...)...)
	if !strings.Contains(listed.out, "1023") || !strings.Contains(listed.out, "end of layout") || !strings.Contains(listed.out, "kept") {
		t.Errorf("workers list: %s%s", listed.out, listed.err)
	}
	token := strconv.FormatInt(list(t, dsn, "shop")[0].FencingToken, 10)
	run(t, append([]string{"workers", "free", "1023", "--fencing-token", token}, store...)...).want(t, 1, "", "ddl drop-generator")
	found := examine(t, Env{}, store...)
	found.want(t, "SQL generator", doctor.OK, "snowkey_next has the worker IDs 1023")
	found.want(t, "worker IDs", doctor.OK, "1 of 1024")

	execute(t, db, "UPDATE snowkey_generator SET system = system + 1")
	examine(t, Env{}, store...).want(t, "SQL generator", doctor.Fail, "is a copy")
	paste("generator", "--worker", "1022")
	examine(t, Env{}, store...).want(t, "SQL generator", doctor.OK, "snowkey_next has the worker IDs 1022")

	execute(t, db, "DROP TABLE orders")
	paste("drop-generator")
	listed = run(t, append([]string{"workers", "list", "--held"}, store...)...)
	if strings.Contains(listed.out, "1022") {
		t.Errorf("still held after the drop: %s", listed.out)
	}
	examine(t, Env{}, store...).want(t, "SQL generator", doctor.Warn, "no generator with the usual prefix")
}

// paste executes what ddl prints of a part, for the namespace shop.
func paste(t *testing.T, db *sql.DB, part string, more ...string) {
	t.Helper()
	execute(t, db, decoded[[]string](t, run(t, append([]string{"ddl", part, "--dialect", "postgres", "--namespace", "shop", "--json"}, more...)...))...)
}

// If a generator has lost a part, its row, its reservation or the tables of the leases, doctor reports it.
// What doctor advises repairs the generator, which then repeats no id.
func TestHalfGenerator(t *testing.T) {
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	db := openDB(t, "pgx", dsn)
	db.SetMaxOpenConns(1) // one session, which keeps its block
	store := []string{"--dsn", dsn, "--namespace", "shop"}
	seen := map[int64]bool{}
	ids := func(t *testing.T) {
		t.Helper()
		for range 100 {
			var id int64
			if err := db.QueryRow("SELECT snowkey_next('shop')").Scan(&id); err != nil || seen[id] {
				t.Fatalf("DUPLICATE %d, %v", id, err)
			}
			seen[id] = true
		}
	}
	paste(t, db, "generator")
	for _, c := range []struct {
		lose, says string
	}{
		{"DELETE FROM snowkey_generator", "has no worker IDs"},
		{"DELETE FROM snow_lease", "not reserved any more"},
		{"DROP TABLE snow_lease, snow_namespace", "not reserved any more"},
		{"DROP FUNCTION snowkey_next(text)", "incomplete, so inserts that need it fail; missing: snowkey_next(text)"},
		{"DROP FUNCTION snowkey_copied(), snowkey_claim(bigint[], int)", "missing: snowkey_copied(), snowkey_claim(bigint[],int)"},
		{"DROP TABLE snowkey_generator, snowkey_marker", "missing: snowkey_generator, snowkey_marker"},
		{"DROP VIEW snowkey_lock", "missing: snowkey_lock"},
		{"DROP SEQUENCE snowkey_checked CASCADE", "missing: snowkey_checked"},
	} {
		t.Run(c.lose, func(t *testing.T) {
			ids(t)
			execute(t, db, c.lose)
			examine(t, Env{}, store...).want(t, "SQL generator", doctor.Fail, c.says)
			if strings.HasPrefix(c.lose, "DROP SEQUENCE") { // as doctor advises
				paste(t, db, "drop-generator")
			}
			paste(t, db, "generator")
			examine(t, Env{}, store...).want(t, "SQL generator", doctor.OK, "snowkey_next has the worker IDs")
			ids(t)
		})
	}
	execute(t, db, "UPDATE snowkey_generator SET version = 2")
	examine(t, Env{}, store...).want(t, "SQL generator", doctor.Skip, "is of version 2")
}
