package worker

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// An error names the missing right and the table, and does not suggest creating a table that
// exists.
func TestMissingRights(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		e := newPostgres(t)
		admin := e.open(t)
		role := strings.TrimPrefix(e.url(t).Path, "/") + "_role"
		mustExec(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'x'")
		t.Cleanup(func() { mustExec(t, admin, "DROP OWNED BY "+role, "DROP ROLE "+role) })
		missingRights(t, admin, e.as(t, role).open(t), role, ddl.Postgres)
		mustExec(t, admin, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
		_, err := e.as(t, role).store(t).List(t.Context(), "x")
		if err == nil || !strings.Contains(err.Error(), "USAGE") && !strings.Contains(err.Error(), "permission denied for schema public") || strings.Contains(err.Error(), "CREATE TABLE") {
			t.Errorf("%v", err)
		}
	})
	for i, server := range testserver.MySQLs(t) {
		t.Run(fmt.Sprint("mysql ", i), func(t *testing.T) {
			e := newMySQL(t, server.DSN)
			admin, cfg := e.open(t), e.mysql(t)
			role := "'" + cfg.DBName + "_r'@'%'"
			mustExec(t, admin, "CREATE USER "+role+" IDENTIFIED BY 'x'")
			t.Cleanup(func() { mustExec(t, open(t, "mysql", server.DSN), "DROP USER "+role) })
			cfg.User, cfg.Passwd = cfg.DBName+"_r", "x"
			missingRights(t, admin, open(t, "mysql", cfg.FormatDSN()), role, ddl.MySQL)
		})
	}
}

func missingRights(t *testing.T, admin, db *sql.DB, role string, d ddl.Dialect) {
	tables, err := (sqlstore.Config{Dialect: d}).DDL()
	must(t, err)
	mustExec(t, admin, tables...)
	all := []string{"snow_lease", "snow_namespace", "snow_counter"}
	for _, table := range all {
		for _, right := range []string{"SELECT", "INSERT", "UPDATE"} {
			t.Run(table+" "+right, func(t *testing.T) {
				mustExec(t, admin, "DELETE FROM snow_lease", "DELETE FROM snow_namespace", "DELETE FROM snow_counter")
				for _, each := range all {
					mustExec(t, admin, "GRANT SELECT, INSERT, UPDATE ON "+each+" TO "+role)
				}
				mustExec(t, admin, "REVOKE "+right+" ON "+table+" FROM "+role)
				store := engines.MustNew(sqlstore.New(db, lossy))
				err := acquire(t, store, once)
				if err == nil {
					_, err = store.Reserve(t.Context(), "x", 1)
				}
				lacks := []string{"permission denied for table " + table, "SELECT, INSERT, UPDATE on the tables"}
				if d == ddl.MySQL {
					lacks = []string{right + " command denied", table}
				}
				for _, text := range lacks {
					if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "CREATE TABLE") {
						t.Errorf("%v, want %q", err, text)
					}
				}
			})
		}
	}
}

// If the role may not create the tables, the error names the table, and has the statements. After an
// administrator has run them unchanged, in any schema, and granted the rights, Open succeeds.
func TestRoleWithoutCreate(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		for name, c := range map[string]struct{ schema, search, table, says string }{
			"public":       {"public", "", "", `"public"."snow_namespace"`},
			"search_path":  {"app-1", `"$user","app-1"`, "", `"public"."snow_namespace"`},
			"named schema": {"app", "", "app.worker_ids", `"app"."worker_ids_namespace"`},
		} {
			t.Run(name, func(t *testing.T) {
				e := newPostgres(t)
				role := strings.TrimPrefix(e.url(t).Path, "/") + "-Role" // which must be quoted
				admin := e.open(t)
				mustExec(t, admin, `CREATE SCHEMA IF NOT EXISTS "`+c.schema+`"`, "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
					`CREATE ROLE "`+role+`" LOGIN PASSWORD 'x'`, `GRANT USAGE ON SCHEMA "`+c.schema+`" TO "`+role+`"`)
				t.Cleanup(func() { mustExec(t, admin, `DROP OWNED BY "`+role+`"`, `DROP ROLE "`+role+`"`) })
				e = e.as(t, role)
				if c.search != "" {
					e = e.with(t, "search_path", c.search)
				}
				checkRights(t, admin, e, c.table, `"`+role+`"`, c.says)

				_, err := openTable(t, e, sqlstore.Config{Table: "nowhere.snow_lease"})
				if err == nil || !strings.Contains(err.Error(), `"nowhere" does not exist`) {
					t.Errorf("a schema that does not exist: %v", err)
				}
			})
		}
	})
	t.Run("mysql", func(t *testing.T) {
		for _, server := range testserver.MySQLs(t) {
			for name, grant := range map[string]string{
				"rows only":       "GRANT SELECT, INSERT, UPDATE, DELETE ON `{db}`.* TO {role}",
				"its own table":   "GRANT ALL ON `{db}`.rows_ TO {role}",
				"create no index": "GRANT SELECT, ALTER ON `{db}`.* TO {role}",
			} {
				t.Run(name, func(t *testing.T) {
					cfg := newMySQL(t, server.DSN).mysql(t)
					role := "'" + cfg.DBName + "'@'%'"
					admin := open(t, "mysql", server.DSN) // in another database
					mustExec(t, admin, "CREATE TABLE `"+cfg.DBName+"`.rows_ (id bigint PRIMARY KEY)", "CREATE USER "+role+" IDENTIFIED BY 'x'",
						strings.NewReplacer("{db}", cfg.DBName, "{role}", role).Replace(grant))
					t.Cleanup(func() { mustExec(t, admin, "DROP USER "+role) })
					cfg.User, cfg.Passwd = cfg.DBName, "x"
					checkRights(t, admin, engineOf(ddl.MySQL, "mysql", cfg.FormatDSN()), "", role, "`"+cfg.DBName+"`.`snow_namespace`")
				})
			}
		}
	})
}

func openTable(t *testing.T, e engine, cfg sqlstore.Config) (*worker.Generator, error) {
	t.Helper()
	return worker.Open(t.Context(), engines.MustNew(sqlstore.New(e.open(t), cfg)), worker.Config{ClaimWait: patience})
}

func checkRights(t *testing.T, admin *sql.DB, e engine, table, role, named string) {
	t.Helper()
	cfg := sqlstore.Config{Table: table}
	var script string
	for _, cfg.NoCreate = range []bool{false, true} {
		_, err := openTable(t, e, cfg)
		if !driver.IsPermanent(err) {
			t.Fatal(err)
		}
		_, script, _ = strings.Cut(err.Error(), " run: ")
		script, _, _ = strings.Cut(script, "; and GRANT SELECT, INSERT, UPDATE on it")
		if strings.Count(script, "CREATE TABLE IF NOT EXISTS ") != 2 || !strings.Contains(err.Error(), named) {
			t.Errorf("%v: it does not name %s, or has not two statements", err, named)
		}
	}
	for statement := range strings.SplitSeq(script, "; ") { // a driver of MySQL's takes one at a time
		table, _, _ := strings.Cut(strings.TrimPrefix(statement, "CREATE TABLE IF NOT EXISTS "), " ")
		mustExec(t, admin, statement, "GRANT SELECT, INSERT, UPDATE ON "+table+" TO "+role)
	}
	gen, err := use(e.gorm(t), gormplugin.Config{Store: cfg})
	must(t, err)
	must(t, gen.Close(t.Context()))
}
