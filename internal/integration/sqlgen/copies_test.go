package sqlgen

import (
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

const isCopy = "was restored or copied"

// A copy of the database makes no id until it has taken other worker IDs, whether by
// CREATE DATABASE or by pg_dump, into another database or into the same one again.
func TestCopies(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres)
	admin := connect(t, server.DSN)
	named := func(name string) string {
		u, err := url.Parse(server.DSN)
		must(t, err)
		u.Path = "/" + name
		return u.String()
	}
	var found ids
	refuses := func(t *testing.T, name string, other int64) {
		t.Helper()
		conn := connect(t, named(name))
		refused(t, conn, notReady, isCopy, next)
		refused(t, conn, notReady, isCopy, "INSERT INTO orders (note) VALUES ('x')")
		refused(t, conn, notReady, "is not free", "SELECT snowkey_claim('{1023}')") // the original's
		refused(t, conn, notReady, "does not know which worker IDs are free", "SELECT snowkey_claim()")
		g := orders
		g.Workers = []int64{other}
		create(t, conn, g) // the script again
		var last int64
		found.add(t, &last, all(t, conn, many)...)
		found.add(t, &last, all(t, conn, "INSERT INTO orders (note) VALUES ('x') RETURNING id")...)
		_ = conn.Close(t.Context())
	}
	original := func() {
		t.Helper()
		conn := connect(t, named("original"))
		var last int64
		found.add(t, &last, all(t, conn, "INSERT INTO orders (note) SELECT 'x' FROM generate_series(1, 100) RETURNING id")...)
		_ = conn.Close(t.Context())
	}
	run(t, admin, "CREATE DATABASE original")
	conn := connect(t, named("original"))
	create(t, conn, orders)
	run(t, conn, "CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowkey_next('orders'), note text)")
	_ = conn.Close(t.Context())
	original()

	t.Run("template", func(t *testing.T) {
		run(t, admin, "CREATE DATABASE template_copy TEMPLATE original")
		refuses(t, "template_copy", 7)
		original()
	})
	t.Run("pg_dump", func(t *testing.T) {
		dump := pgDump(t, admin, named("original"))
		run(t, admin, "CREATE DATABASE restored")
		restore(t, named("restored"), dump)
		refuses(t, "restored", 8)
		original()
		// The original continues, and the copy takes over when it is gone, which its floor makes safe.
		run(t, admin, "DROP DATABASE original WITH (FORCE)")
		conn := connect(t, named("restored"))
		run(t, conn, "SELECT snowkey_claim()")
		var last int64
		found.add(t, &last, all(t, conn, many)...)
	})
}

// Sequences that are set to earlier values, by hand or by the data of a dump, give no id twice: calls fail
// until the generator has other worker IDs.
func TestSetBack(t *testing.T) {
	server := testserver.Postgres(t)
	data := func(t *testing.T, conn *pgx.Conn, dsn string) []string {
		t.Helper()
		var statements []string
		for statement := range strings.SplitSeq(pgDump(t, conn, dsn, "--data-only"), ";\n") {
			if !strings.Contains(statement, "search_path") && !strings.Contains(statement, "test_shift") {
				statements = append(statements, statement)
			}
		}
		return statements
	}
	sequences := func(t *testing.T, conn *pgx.Conn, _ string) (statements []string) {
		t.Helper()
		for _, name := range []string{"checked", "cursor", "floor"} { // the order of a dump
			value := one[int64](t, conn, "SELECT last_value FROM snowkey_"+name)
			statements = append(statements, fmt.Sprintf("SELECT setval('snowkey_%s', %d, true)", name, value))
		}
		return statements
	}
	restart := func(sequence, more string) func(*testing.T, *pgx.Conn, string) []string {
		return func(*testing.T, *pgx.Conn, string) []string {
			return []string{"ALTER SEQUENCE snowkey_" + sequence + " RESTART" + more}
		}
	}
	for name, statements := range map[string]func(*testing.T, *pgx.Conn, string) []string{
		"sequences":   sequences,
		"data":        data,
		"cursor":      restart("cursor", ""),
		"cursor to 1": restart("cursor", " WITH 1"),
		"cursor by 1": func(*testing.T, *pgx.Conn, string) []string { return []string{"SELECT setval('snowkey_cursor', 1)"} },
		"cursor back by 20 s": func(*testing.T, *pgx.Conn, string) []string {
			return []string{"SELECT setval('snowkey_cursor', last_value - 20 * 1000 * 4096) FROM snowkey_cursor"}
		},
		"floor":   restart("floor", ""),
		"checked": restart("checked", ""),
		"checked forward": func(*testing.T, *pgx.Conn, string) []string {
			return []string{"SELECT setval('snowkey_checked', last_value + 1000000000) FROM snowkey_checked"}
		},
	} {
		for _, fresh := range []bool{false, true} { // fresh: it has made no id since it took its worker IDs
			if fresh && strings.HasPrefix(name, "checked") {
				continue // it is set anew before the first id
			}
			t.Run(fmt.Sprintf("%s, fresh %t", name, fresh), func(t *testing.T) {
				dsn := testserver.Database(t, "pgx", server.DSN)
				conn := connect(t, dsn)
				createWithClock(t, conn, orders)
				var found ids
				var last int64
				found.add(t, &last, all(t, conn, many)...)
				run(t, conn, "SELECT test_step('-5s')") // so that ids are ahead of the clock, and only the sequence says how far
				before := statements(t, conn, dsn)
				for range 20 {
					found.add(t, &last, all(t, conn, many)...)
				}
				if fresh {
					run(t, conn, "SELECT snowkey_claim('{7}')")
				}
				for _, statement := range before {
					_, _ = conn.Exec(t.Context(), statement) // most rows are still there, and psql continues
				}
				for _, session := range []*pgx.Conn{conn, connect(t, dsn)} {
					run(t, session, "DISCARD SEQUENCES")
					refused(t, session, notReady, isCopy, next)
					refused(t, session, notReady, isCopy, many)
				}
				if !one[bool](t, conn, "SELECT snowkey_copied()") {
					t.Error("doctor would not see it")
				}
				refused(t, conn, notReady, "name them", "SELECT snowkey_claim()")
				run(t, conn, "SELECT snowkey_claim('{9}')")
				last = 0
				found.add(t, &last, all(t, conn, many)...)
			})
		}
	}
}

// pgDump returns a dump of a database as SQL. It needs a pg_dump that is not older than
// the server.
func pgDump(t *testing.T, conn *pgx.Conn, dsn string, options ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "pg_dump", append(options, "--no-owner", "--inserts", dsn)...).Output()
	if err != nil {
		testserver.Missing(t, fmt.Sprintf("pg_dump of PostgreSQL %s: %v", one[string](t, conn, "SHOW server_version"), err))
	}
	return string(out)
}

func restore(t *testing.T, dsn, dump string) {
	t.Helper()
	var kept []string
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, `\`) && !strings.HasPrefix(line, "CREATE SCHEMA public") { // of psql
			kept = append(kept, line)
		}
	}
	conn := connect(t, dsn)
	if _, err := conn.PgConn().Exec(t.Context(), strings.Join(kept, "")).ReadAll(); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
}

// synchronous names the synchronous standbys, and waits until the session knows them.
func synchronous(t *testing.T, conn *pgx.Conn, names string) {
	t.Helper()
	run(t, conn, "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'", "SELECT pg_reload_conf()")
	for deadline := time.Now().Add(time.Minute); ; {
		got := one[string](t, conn, "SELECT current_setting('synchronous_standby_names') FROM pg_sleep(0.01)")
		if got == names {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("synchronous_standby_names is still %q, not %q", got, names)
		}
	}
}

// While no synchronous standby answers, ids come: they need not be flushed there.
func TestStandbyAway(t *testing.T) {
	t.Parallel()
	primary := testserver.New(t, testserver.KindPostgres)
	conn := connect(t, primary.DSN)
	createWithClock(t, conn, orders)
	var found ids
	var last int64
	synchronous(t, conn, "standby")
	run(t, conn, "SET synchronous_commit = off",
		"SET standard_conforming_strings = off") // as old programs do, and no pattern may read differently
	found.add(t, &last, all(t, conn, many)...)
	run(t, conn, "SELECT test_step('1min')")
	found.add(t, &last, all(t, conn, many)...)
}

// A subscriber of logical replication keeps the publisher's ids: it evaluates no default, and a
// trigger does not fire there.
func TestSubscriber(t *testing.T) {
	t.Parallel()
	publisher := testserver.New(t, testserver.KindPostgres, "-c", "wal_level=logical")
	subscriber := testserver.New(t, testserver.KindPostgres)
	from, to := connect(t, publisher.DSN), connect(t, subscriber.DSN)
	for conn, g := range map[*pgx.Conn]ddl.Generator{from: {Dialect: ddl.Postgres, Namespace: "orders", Workers: []int64{1}}, to: {Dialect: ddl.Postgres, Namespace: "orders", Workers: []int64{2}}} {
		create(t, conn, g)
		run(t, conn, "CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowkey_next('orders'), by_trigger bigint)",
			"CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.by_trigger := snowkey_next(''orders''); RETURN NEW; END'",
			"CREATE TRIGGER fill BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION fill()")
	}
	run(t, from, "CREATE PUBLICATION p FOR TABLE orders")
	run(t, to, "CREATE SUBSCRIPTION s CONNECTION '"+publisher.DSN+"' PUBLICATION p")
	run(t, from, "INSERT INTO orders SELECT FROM generate_series(1, 100)")
	const sum = "SELECT coalesce(string_agg(id || ' ' || by_trigger, ',' ORDER BY id), '') FROM orders"
	want := one[string](t, from, sum)
	deadline := time.Now().Add(time.Minute)
	for one[int](t, to, "SELECT count(*) FROM orders, pg_sleep(0.05)") < 100 && time.Now().Before(deadline) {
	}
	if got := one[string](t, to, sum); got != want {
		t.Errorf("the subscriber has %.100s, the publisher %.100s", got, want)
	}
	var found ids
	var a, b int64
	found.add(t, &a, all(t, from, many)...)
	found.add(t, &b, all(t, to, "INSERT INTO orders SELECT FROM generate_series(1, 100) RETURNING id")...)
	run(t, to, "DROP SUBSCRIPTION s")
}

// While a transaction of a standby has locked all tables, as pg_dump does, the standby replays what a
// long transaction writes that takes ids.
func TestDumpOfStandby(t *testing.T) {
	primary := testserver.New(t, testserver.KindPostgres)
	standby := testserver.NewStandby(t, primary)
	conn, dump := connect(t, primary.DSN), connect(t, standby.DSN)
	createWithClock(t, conn, orders)
	replayed := func(limit time.Duration) {
		t.Helper()
		end := one[string](t, conn, "SELECT pg_current_wal_flush_lsn()::text")
		deadline := time.Now().Add(limit)
		for !one[bool](t, dump, "SELECT pg_last_wal_replay_lsn() >= '"+end+"'") { // a statement that waits itself could stop the replay by its snapshot
			if time.Now().After(deadline) {
				t.Fatal("the standby replays nothing")
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	replayed(60 * time.Second)
	run(t, dump, "BEGIN")
	for _, table := range []string{"snow_lease", "snow_namespace", "snowkey_generator", "snowkey_flush"} {
		if one[bool](t, dump, "SELECT to_regclass('"+table+"') IS NOT NULL") {
			run(t, dump, "LOCK TABLE "+table+" IN ACCESS SHARE MODE")
		}
	}
	var found ids
	var last int64
	run(t, conn, "BEGIN")
	for range 5 {
		found.add(t, &last, all(t, conn, many)...)
		run(t, conn, "SELECT test_step('6s')")
	}
	run(t, conn, "COMMIT")
	replayed(20 * time.Second) // which is less than max_standby_streaming_delay
	run(t, dump, "ROLLBACK")
}
