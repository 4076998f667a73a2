package cli

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

func TestMigrate(t *testing.T) {
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE orders (id int PRIMARY KEY, note varchar(10))", "CREATE TABLE order_lines (id int PRIMARY KEY, order_id int, FOREIGN KEY (order_id) REFERENCES orders (id))",
		"INSERT INTO orders VALUES (1, 'x')", "INSERT INTO order_lines VALUES (1, 1)",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	args := []string{"migrate", "bigint", "--dsn", dsn, "--table", "orders"}
	if _, err := db.Exec("CREATE VIEW v AS SELECT id FROM orders"); err != nil {
		t.Fatal(err)
	}
	got := run(t, args...)
	if got.code != 2 || !strings.Contains(got.err, "view public.v. Drop them, and create them again after the swap") {
		t.Errorf("exit code %d, %s", got.code, got.err)
	}
	if _, err := db.Exec("DROP VIEW public.v"); err != nil {
		t.Fatal(err)
	}
	got = run(t, args...)
	for _, part := range []string{"-- bigint: ", "orders.id", "order_lines.order_id, which refers to it", "-- Lock: ", "-- Check: SELECT"} {
		if !strings.Contains(got.out, part) {
			t.Errorf("no %q in\n%s", part, got.out)
		}
	}
	if got.code != 0 || !strings.Contains(got.err, "nothing was changed: --apply does the steps that are left") {
		t.Errorf("exit code %d, %s", got.code, got.err)
	}
	got = run(t, append(args, "--apply", "--stop-before", "swap")...)
	if got.code != 0 || !strings.Contains(got.out, "left: swap") || !strings.Contains(got.err, "fill ") {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
	got = run(t, append(args, "--apply")...)
	if got.code != 0 || !strings.HasPrefix(got.out, "1 step done") || !strings.Contains(got.out, "left: finish") {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
	if got := run(t, args...); got.code != 0 || !strings.Contains(got.err, "nothing was changed: only finish is left; --apply --finish does it") {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
	got = run(t, append(args, "--apply", "--finish")...)
	if got.code != 0 || !strings.HasPrefix(got.out, "2 steps done") || strings.Contains(got.out, "left:") {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
	if got := run(t, args...); got.code != 0 || !strings.Contains(got.out, "Nothing is to be done") || !strings.Contains(got.err, "nothing was changed: no step is left") {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
	if _, err := db.Exec("INSERT INTO order_lines (id, order_id) VALUES (2, 1996573624012345677)"); err == nil {
		t.Error("there is no foreign key")
	}
}
