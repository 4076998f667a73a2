package cli

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// tables opens the database of a DSN of the command, with a table of orders and one of lines.
func tables(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db := openDB(t, driver, source)
	execute(t, db,
		"CREATE TABLE orders (id bigint PRIMARY KEY, made timestamp NULL)",
		"CREATE TABLE order_lines (id bigint PRIMARY KEY, order_id bigint, FOREIGN KEY (order_id) REFERENCES orders (id))",
		"INSERT INTO orders VALUES (3, '2024-07-01 12:00:00'), (1, '2024-07-01 12:00:01'), (2, '2025-01-01 00:00:00')",
		"INSERT INTO order_lines VALUES (1, 3), (2, 3), (3, 2)",
	)
	return db
}

func TestBackfill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	postgres := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	maria := testserver.Database(t, "mysql", testserver.MariaDB(t).DSN)
	for _, c := range []struct {
		name, driver, source, dsn string
		indexed                   bool
		prefix                    string
	}{
		{"sqlite", "sqlite", file, "file:" + file, false, ""},
		{"postgres", "pgx", postgres, postgres, false, "public."},
		{"mariadb", "mysql", maria, maria, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := tables(t, c.driver, c.source)
			args := []string{"backfill", "--dsn", c.dsn, "--table", "orders", "--created-at", "made", "--tz", "Europe/Paris"}
			dry := run(t, append(args, "--dry-run")...)
			for _, part := range []string{"orders, by its key id and made", "in id_snowkey, which will be added", "3 rows, created from 2024-07-01T10:00:00", "order_lines.order_id, with ids in order_id_snowkey, which will be added: 3 rows"} {
				if c.driver == "mysql" { // its timestamps have a zone
					part = strings.Replace(part, "T10", "T12", 1)
				}
				if !strings.Contains(dry.out, part) {
					t.Errorf("no %q in\n%s", part, dry.out)
				}
			}
			if no := strings.Contains(dry.out, "because it has no index"); dry.code != 0 || !strings.Contains(dry.err, "nothing was written") || no == c.indexed {
				t.Errorf("exit code %d\n%s%s", dry.code, dry.out, dry.err)
			}
			got := run(t, append(args, "--dry-run", "--json")...)
			if !strings.Contains(got.out, `"rows": 3`) {
				t.Error(got.out)
			}
			if _, err := db.Exec("SELECT id_snowkey FROM orders"); err == nil {
				t.Error("the dry run has added a column")
			}
			got = runWith(t, Env{ErrTTY: true, Getenv: environment("NO_COLOR", "1")}, append(args, "--batch", "1")...)
			if got.code != 0 || got.out != "orders: 3 rows got an id, with the worker ID 1023\n3 references to them got one, too\n" || !strings.Contains(got.err, "rows") || !strings.Contains(got.err, "\r") {
				t.Errorf("exit code %d\n%s%q", got.code, got.out, got.err)
			}
			if w := list(t, c.dsn, "default"); len(w) != 1 || w[0].WorkerID != 1023 || w[0].State != "released" || !strings.HasPrefix(w[0].Owner, "backfill of ") {
				t.Errorf("%+v", w)
			}
			var whole int
			if err := db.QueryRow("SELECT count(*) FROM order_lines l JOIN orders o ON l.order_id = o.id AND l.order_id_snowkey = o.id_snowkey").Scan(&whole); err != nil || whole != 3 {
				t.Errorf("%d references, %v", whole, err)
			}
			got = run(t, append(args, "--json")...)
			if got.code != 0 || !strings.Contains(got.out, `"worker_id": -1`) || !strings.Contains(got.out, `"rows": 0`) {
				t.Errorf("again: exit code %d\n%s%s", got.code, got.out, got.err)
			}
			execute(t, db, "INSERT INTO orders (id, made) VALUES (4, '2037-01-01 00:00:00')", "UPDATE order_lines SET order_id = 1 WHERE id = 1")
			got = run(t, args...)
			got.want(t, 1, "no row needed an id", "that is in the future: correct it")
			if moved := "\nrows of " + c.prefix + "order_lines whose order_id_snowkey differs from the id of the row that order_id refers to now: 1"; c.driver != "mysql" && !strings.Contains(got.err, moved) {
				t.Errorf("%s, want %q", got.err, moved)
			}
		})
	}
}

// What backfill and migrate refuse, by their flags.
func TestTableErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	tables(t, "sqlite", file)
	postgres := " --dsn " + testserver.Postgres(t).DSN + " --table none"
	orders := "backfill --created-at made --table orders --dsn file:" + file
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"backfill --dsn a.db", 2, "--table is required"},
		{"backfill --dsn a.db --table orders", 2, "--created-at is required"},
		{"backfill --table orders --created-at made", 2, "--dsn is required"},
		{"backfill --dsn redis://h --table orders --created-at made", 2, "Redis has no tables"},
		{"gen --lease file:" + file, 0, ""},
		{"workers floor --namespace default --dsn file:" + file, 0, ""},
		{orders, 1, "a restore: set --worker to one that no generator has used"},
		{orders + " --epoch 2024-12-01", 1, "before the layout's epoch"},
		{orders + " --worker 7", 0, ""},
		{"migrate", 2, "one argument: bigint"},
		{"migrate int" + postgres, 2, `"int"`},
		{"migrate bigint --dsn a.db", 2, "--table is required"},
		{"migrate bigint --dsn file:none.db --table orders", 2, "PostgreSQL only: convert a table of SQLite as docs/gorm.md shows"},
		{"migrate bigint --dsn mysql://root@127.0.0.1:1/x --table orders", 2, "PostgreSQL only: use gh-ost or pt-online-schema-change"},
		{"migrate bigint" + postgres, 2, `--table "none"`},
		{"migrate bigint --finish --undo" + postgres, 2, "--finish true: must be false with --undo"},
	} {
		run(t, strings.Fields(c.args)...).want(t, c.code, "", c.want)
	}
}
