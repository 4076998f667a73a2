package cli

import (
	"database/sql"
	"path/filepath"
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
	must(t, err)
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	maria, err := mysql.ParseDSN(testserver.NewMariaDB(t).DSN)
	must(t, err)
	maria.MultiStatements = true
	connector, err := mysql.NewConnector(maria)
	must(t, err)
	lite, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "orders.db"))
	must(t, err)
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
		t.Run(dialect, func(t *testing.T) {
			const table, column = "it's; \"the\".`orders` -- of\n:all", "an; \"id\"\n-- /* or\r`it's`"
			quoted := func(name string) string {
				text, err := ddl.Dialect(dialect).Quote(name)
				must(t, err)
				return text
			}
			paste := func(text string) {
				t.Helper()
				if _, err := db.Exec(text); err != nil {
					t.Fatalf("%v, from\n%s", err, text)
				}
			}
			printed := func(part string, more ...string) {
				t.Helper()
				got := run(t, append([]string{"ddl", part, "--dialect", dialect}, more...)...)
				if got.code != 0 {
					t.Fatalf("%s: exit code %d: %s", part, got.code, got.err)
				}
				paste(got.out)
			}
			paste("CREATE TABLE " + quoted(table) + " (" + quoted(column) + " bigint PRIMARY KEY)")
			on := []string{"--table", table, "--column", column}
			printed("check", on...) // of SQLite, all is comment
			paste("INSERT INTO " + quoted(table) + " VALUES (" + someID + ")")
			if _, err := db.Exec("INSERT INTO " + quoted(table) + " VALUES (0)"); err == nil && dialect != "sqlite" {
				t.Error("0 is taken after the check")
			}
			printed("view", append(on, "--view", "a view of "+table)...)
			var worker, datacenter, machine, sequence int64
			err := db.QueryRow("SELECT snowflake_worker_id, snowflake_datacenter, snowflake_machine, snowflake_sequence FROM "+quoted("a view of "+table)+" ORDER BY 1 DESC LIMIT 1").Scan(&worker, &datacenter, &machine, &sequence)
			if err != nil || worker != 21<<5|25 || datacenter != 21 || machine != 25 || sequence != 333 {
				t.Errorf("%d %d %d %d, %v", worker, datacenter, machine, sequence, err)
			}
			printed("workers")
			if dialect == "postgres" {
				printed("domain")
			}
			if dialect != "sqlite" { // where functions are queries with a parameter
				printed("functions")
				printed("drop")
			}
		})
	}
}
