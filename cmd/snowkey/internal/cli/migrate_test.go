package cli

import (
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

func TestMigrate(t *testing.T) {
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	db := openDB(t, "pgx", dsn)
	execute(t, db,
		"CREATE TABLE orders (id int PRIMARY KEY, note varchar(10))", "CREATE TABLE order_lines (id int PRIMARY KEY, order_id int, FOREIGN KEY (order_id) REFERENCES orders (id))",
		"INSERT INTO orders VALUES (1, 'x')", "INSERT INTO order_lines VALUES (1, 1)", "CREATE VIEW v AS SELECT id FROM orders",
	)
	args := []string{"migrate", "bigint", "--dsn", dsn, "--table", "orders"}
	run(t, args...).want(t, 2, "", "view public.v. Drop them, and create them again after the swap")
	execute(t, db, "DROP VIEW public.v")
	got := run(t, args...)
	for _, part := range []string{"-- bigint: ", "orders.id", "order_lines.order_id, which refers to it", "-- Lock: ", "-- Check: SELECT"} {
		if !strings.Contains(got.out, part) {
			t.Errorf("no %q in\n%s", part, got.out)
		}
	}
	got.want(t, 0, "", "nothing was changed: --apply does the steps that are left")
	run(t, append(args, "--apply", "--stop-before", "swap")...).want(t, 0, "left: swap", "fill ")
	got = run(t, append(args, "--apply")...)
	if got.want(t, 0, "left: finish", ""); !strings.HasPrefix(got.out, "1 step done") {
		t.Error(got.out)
	}
	run(t, args...).want(t, 0, "", "nothing was changed: only finish is left; --apply --finish does it")
	got = run(t, append(args, "--apply", "--finish")...)
	if got.want(t, 0, "2 steps done", ""); strings.Contains(got.out, "left:") {
		t.Error(got.out)
	}
	run(t, args...).want(t, 0, "Nothing is to be done", "nothing was changed: no step is left")
	if _, err := db.Exec("INSERT INTO order_lines (id, order_id) VALUES (2, 1996573624012345677)"); err == nil {
		t.Error("there is no foreign key")
	}
}
