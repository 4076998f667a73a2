package sqlstore

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}

func openFile(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open(sqlite.DriverName, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// put replaces what the tables have of a namespace.
func put(t *testing.T, db *sql.DB, st driver.State) {
	t.Helper()
	ns := st.Namespace
	if st.Missing { // and the index, or it would not rise again so soon
		mustExec(t, db, "DELETE FROM snow_namespace WHERE namespace = '*'")
	}
	mustExec(t, db, "DELETE FROM snow_lease WHERE namespace = '"+ns.Name+"'", "DELETE FROM snow_namespace WHERE namespace = '"+ns.Name+"'")
	if !st.Missing {
		mustExec(t, db, fmt.Sprintf("INSERT INTO snow_namespace (namespace, %s) VALUES ('%s', '%s', %d, %d, '%s', %d, %d, %d, %d)", namespaceColumns,
			ns.Name, ns.Layout, ns.FenceWindow, ns.MaxSkew, ns.Incarnation, ns.Since, ns.Floor, ns.Seen, ns.Version))
	}
	for _, r := range st.Records {
		mustExec(t, db, fmt.Sprintf("INSERT INTO snow_lease (namespace, worker_id, claim_id, fencing_token, start, fence, owner, state) VALUES ('%s', %d, '%s', %d, %d, %d, '%s', '%s')",
			ns.Name, r.Worker, r.ClaimID, r.FencingToken, r.Start, r.Fence, r.Owner, r.Status))
	}
}

// temporary returns the DSN of a file of the test, with pragmas.
func temporary(t *testing.T, pragmas string) string {
	return "file:" + filepath.Join(t.TempDir(), "shop.sqlite") + pragmas
}

// modes are the pragmas of pools of SQLite.
var modes = map[string]string{
	"wal":       "?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(2)",
	"delete":    "?_pragma=busy_timeout(60000)&_pragma=journal_mode(delete)&_pragma=synchronous(2)",
	"impatient": "", // a locked file is an error at once
}

func TestSQLite(t *testing.T) {
	for mode, pragmas := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel() // it waits, mostly
			file := temporary(t, "")
			dsn, admin := file+pragmas, openFile(t, file+"?_pragma=busy_timeout(60000)")
			storetest.Run(t, storetest.Config{
				Open: func(t *testing.T) driver.Store {
					db := openFile(t, dsn)
					if mode == "delete" {
						db.SetMaxOpenConns(1) // which must do
					}
					return mustNew(New(db, Config{}))
				},
				Put: func(t *testing.T, s driver.State) { put(t, admin, s) },
			})
		})
	}
}
