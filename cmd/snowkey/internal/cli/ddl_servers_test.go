package cli

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite"
	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// databases are an empty one per dialect. They accept several statements at once, as psql,
// mysql and sqlite3 do.
func databases(t *testing.T) map[string]*sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(testserver.NewPostgres(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	maria, err := mysql.ParseDSN(testserver.NewMariaDB(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	maria.MultiStatements = true
	connector, err := mysql.NewConnector(maria)
	if err != nil {
		t.Fatal(err)
	}
	lite, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "orders.db"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*sql.DB{"postgres": stdlib.OpenDB(*config), "mysql": sql.OpenDB(connector), "sqlite": lite}
	for _, db := range all {
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
	}
	return all
}

// The output of ddl runs: every part, on every database, under names with quotes, dots,
// semicolons and line breaks.
func TestDDLCanBePasted(t *testing.T) {
	for dialect, db := range databases(t) {
		for i, names := range []struct{ table, column string }{{"orders", "id"}, {"it's; \"the\".`orders` -- of\n:all", "an; \"id\"\n-- /* or\r`it's`"}} {
			t.Run(fmt.Sprint(dialect, i), func(t *testing.T) {
				d := ddl.Dialect(dialect)
				table, column := names.table, names.column
				flags := []string{"--dialect", dialect}
				printed := func(part string, more ...string) string {
					t.Helper()
					got := run(t, append(append([]string{"ddl", part}, flags...), more...)...)
					if got.code != 0 {
						t.Fatalf("%s: exit code %d: %s", part, got.code, got.err)
					}
					return got.out
				}
				paste := func(text string) {
					t.Helper()
					if _, err := db.Exec(text); err != nil {
						t.Fatalf("%v, from\n%s", err, text)
					}
				}
				on := []string{"--table", table, "--column", column}
				quotedTable, err := d.Quote(table)
				if err != nil {
					t.Fatal(err)
				}
				quotedColumn, err := d.Quote(column)
				if err != nil {
					t.Fatal(err)
				}

				check := printed("check", on...)
				if dialect == "sqlite" { // adds no constraint later: it is in the comment
					paste(check)
					var text []string
					for line := range strings.Lines(check) {
						line, comment := strings.CutPrefix(line, "-- ")
						if !comment {
							t.Errorf("no comment: %q in\n%s", line, check)
						}
						text = append(text, line)
					}
					_, constraint, _ := strings.Cut(strings.Join(text, ""), "later:\n")
					constraint = strings.ReplaceAll(constraint, "or\n`", "or\r`") // a return is a line break in the comment
					paste("CREATE TABLE " + quotedTable + " (" + quotedColumn + " bigint PRIMARY KEY " + constraint + ")")
				} else {
					paste("CREATE TABLE " + quotedTable + " (" + quotedColumn + " bigint PRIMARY KEY)")
					paste(check)
				}
				paste("INSERT INTO " + quotedTable + " VALUES (" + someID + ")")
				if _, err := db.Exec("INSERT INTO " + quotedTable + " VALUES (0)"); err == nil {
					t.Errorf("0 is taken after\n%s", check)
				}

				var datacenter, worker, sequence int64
				view := []string{"--table", table, "--column", column, "--view", "a view of " + table}
				paste(printed("view", view...))
				quotedView, err := d.Quote("a view of " + table)
				if err != nil {
					t.Fatal(err)
				}
				if err := db.QueryRow("SELECT snowflake_datacenter, snowflake_worker, snowflake_sequence FROM "+quotedView).Scan(&datacenter, &worker, &sequence); err != nil || datacenter != 21 || worker != 25 || sequence != 333 {
					t.Errorf("%d %d %d, %v", datacenter, worker, sequence, err)
				}
				paste(printed("workers"))
				if dialect == "postgres" {
					paste(printed("domain"))
					paste("DROP DOMAIN snowflake_id")
				}
				if dialect != "sqlite" { // where functions are queries with a parameter
					paste(printed("functions"))
					paste(printed("drop"))
				}
			})
		}
	}
}
