package stores

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// An error names the missing right and the table, and does not suggest creating a table that
// exists.
func TestMissingRights(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		server := testserver.Postgres(t)
		dsn := inDatabase(t, server.DSN)
		admin := open(t, "pgx", dsn)
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		role := strings.TrimPrefix(u.Path, "/") + "_role"
		mustExec(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'x'")
		t.Cleanup(func() { mustExec(t, admin, "DROP OWNED BY "+role, "DROP ROLE "+role) })
		u.User = url.UserPassword(role, "x")
		missingRights(t, admin, open(t, "pgx", u.String()), role, sqlstore.Postgres)

		mustExec(t, admin, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
		for _, cfg := range []sqlstore.Config{{AllowDataLoss: true}, {AllowDataLoss: true, NoCreate: true}, {AllowDataLoss: true, Table: "public.snow_worker"}} {
			_, err := mustNew(sqlstore.New(open(t, "pgx", u.String()), cfg)).List(t.Context(), "x")
			t.Logf("%+v: %v", cfg, err)
			if err == nil || !strings.Contains(err.Error(), "USAGE") && !strings.Contains(err.Error(), "permission denied for schema public") || strings.Contains(err.Error(), "CREATE TABLE") {
				t.Errorf("%+v: %v", cfg, err)
			}
		}
	})
	t.Run("mysql", func(t *testing.T) {
		for i, server := range testserver.MySQLs(t) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				root := open(t, "mysql", server.DSN)
				cfg, err := mysql.ParseDSN(server.DSN)
				if err != nil {
					t.Fatal(err)
				}
				cfg.DBName = create(t, root, "")
				admin := open(t, "mysql", cfg.FormatDSN())
				role := cfg.DBName + "_r"
				mustExec(t, admin, "CREATE USER '"+role+"'@'%' IDENTIFIED BY 'x'")
				t.Cleanup(func() { mustExec(t, root, "DROP USER '"+role+"'@'%'") })
				cfg.User, cfg.Passwd = role, "x"
				missingRights(t, admin, open(t, "mysql", cfg.FormatDSN()), "'"+role+"'@'%'", sqlstore.MySQL)
			})
		}
	})
}

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil { // also when the test is over
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func missingRights(t *testing.T, admin, db *sql.DB, role string, d sqlstore.Dialect) {
	ddl, err := (sqlstore.Config{Dialect: d}).DDL()
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, admin, ddl...)
	for _, table := range []string{"snow_worker", "snow_worker_space", "snow_worker_counter"} {
		for _, right := range []string{"SELECT", "INSERT", "UPDATE"} {
			if table == "snow_worker_space" && right == "UPDATE" { // it is not needed
				continue
			}
			t.Run(table+" "+right, func(t *testing.T) {
				mustExec(t, admin, "DELETE FROM snow_worker", "DELETE FROM snow_worker_space", "DELETE FROM snow_worker_counter")
				for _, each := range []string{"snow_worker", "snow_worker_space", "snow_worker_counter"} {
					mustExec(t, admin, "GRANT SELECT, INSERT, UPDATE ON "+each+" TO "+role)
				}
				mustExec(t, admin, "REVOKE "+right+" ON "+table+" FROM "+role)
				store := mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
				lease, err := worker.Open(t.Context(), store, worker.Config{ClaimWait: -1})
				if err == nil {
					err = lease.Close(context.Background())
				}
				if err == nil {
					_, err = store.Count(t.Context(), "x")
				}
				if err == nil {
					t.Fatal("no error")
				}
				t.Log(err)
				lacks := right + ` on "public"."` + table + `"`
				if d == sqlstore.MySQL {
					lacks = right + " command denied"
				}
				for _, want := range []string{"denied", lacks, table} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error has no %q", want)
					}
				}
				if strings.Contains(err.Error(), "CREATE TABLE") {
					t.Error("it is there")
				}
			})
		}
	}
}
