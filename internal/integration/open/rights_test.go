package open

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// If the role may not create the tables, the error names the role and the table, and ends with
// statements. After an administrator has run them unchanged, in any schema, Open succeeds.
func TestRoleWithoutCreate(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		for name, c := range map[string]struct{ schema, search, table, says string }{
			"public":       {"public", "", "", `"public"."snow_worker_space"`},
			"search_path":  {"app-1", `"$user","app-1"`, "", `"public"."snow_worker_space"`},
			"named schema": {"app", "", "app.worker_ids", `"app"."worker_ids_space"`},
		} {
			t.Run(name, func(t *testing.T) {
				d := freshPostgres(t)
				u, err := url.Parse(d.dsn)
				must(t, err)
				role := strings.TrimPrefix(u.Path, "/") + "-Role" // which must be quoted
				admin := d.sql(t)
				mustExec(t, admin, `CREATE SCHEMA IF NOT EXISTS "`+c.schema+`"`, "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
					`CREATE ROLE "`+role+`" LOGIN PASSWORD 'x'`, `GRANT USAGE ON SCHEMA "`+c.schema+`" TO "`+role+`"`)
				t.Cleanup(func() { mustExec(t, admin, `DROP OWNED BY "`+role+`"`, `DROP ROLE "`+role+`"`) })
				u.User = url.UserPassword(role, "x")
				if c.search != "" {
					u.RawQuery += "&search_path=" + url.QueryEscape(c.search)
				}
				checkRights(t, admin, database{"postgres", u.String()}, c.table, `"`+role+`"`, c.says)

				nowhere := lossy
				nowhere.Table = "nowhere.snow_worker"
				_, err = sqlstore.Open(t.Context(), (database{"postgres", u.String()}).sql(t), nowhere)
				if err == nil || !strings.Contains(err.Error(), "no such schema") {
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
					d := freshMySQL(t, server.DSN)
					cfg, err := mysqldriver.ParseDSN(d.dsn)
					must(t, err)
					role := "'" + cfg.DBName + "'@'%'"
					admin := (database{"mysql", server.DSN}).sql(t) // in another database
					mustExec(t, admin, "CREATE TABLE `"+cfg.DBName+"`.rows_ (id bigint PRIMARY KEY)", "CREATE USER "+role+" IDENTIFIED BY 'x'",
						strings.NewReplacer("{db}", cfg.DBName, "{role}", role).Replace(grant))
					t.Cleanup(func() { mustExec(t, admin, "DROP USER "+role) })
					cfg.User, cfg.Passwd = cfg.DBName, "x"
					checkRights(t, admin, database{"mysql", cfg.FormatDSN()}, "", role, "`"+cfg.DBName+"`.`snow_worker_space`")
				})
			}
		}
	})
}

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func checkRights(t *testing.T, admin *sql.DB, d database, table, role, named string) {
	t.Helper()
	store := sqlstore.Config{AllowDataLoss: true, Table: table, Lease: worker.Config{ClaimWait: patience}}
	open := map[string]func(store sqlstore.Config) (*worker.Generator, error){
		"gorm": func(store sqlstore.Config) (*worker.Generator, error) {
			return use(d.gorm(t), gormplugin.Config{Store: store})
		},
		"sql": func(store sqlstore.Config) (*worker.Generator, error) {
			return sqlstore.Open(t.Context(), d.sql(t), store)
		},
	}
	if d.name == "postgres" {
		open["pgxpool"] = func(store sqlstore.Config) (*worker.Generator, error) {
			return pgxstore.Open(t.Context(), d.pgx(t, 1), store)
		}
	}
	var script string
	for _, noCreate := range []bool{false, true} {
		for name, open := range open {
			store.NoCreate = noCreate
			began := time.Now()
			_, err := open(store)
			if err == nil {
				t.Fatalf("%s: no error", name)
			}
			var ok bool
			_, script, ok = strings.Cut(err.Error(), " run: ")
			t.Logf("%s: %v", name, err)
			if !ok || !strings.HasSuffix(script, ";") || strings.Count(script, "CREATE TABLE IF NOT EXISTS ") != 2 || strings.Count(script, " TO "+role+";") != 2 {
				t.Errorf("%s: the statements are %q", name, script)
			}
			for _, want := range []string{role, named} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: it does not name %s", name, want)
				}
			}
			if took := time.Since(began); took > patience/2 { // ClaimWait is patience
				t.Errorf("%s: it was tried again for %v", name, took)
			}
		}
	}
	for statement := range strings.SplitSeq(script, ";") { // a driver of MySQL's takes one at a time
		if statement != "" {
			mustExec(t, admin, statement)
		}
	}
	for name, open := range open {
		gen, err := open(store)
		if err != nil {
			t.Fatalf("%s: after the statements: %v", name, err)
		}
		if _, err := gen.Next(t.Context()); err != nil || gen.Stats().Namespace != "default" {
			t.Errorf("%s: %v", name, err)
		}
		must(t, gen.Close(t.Context()))
	}
}
