package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glebarez/sqlite"

	"github.com/seed-299c1d6b/snowkey/ddl"
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

// request is a claim of a test.
func request(namespace, claimID string) driver.Claim {
	return driver.Claim{Namespace: namespace, Layout: "l", WorkerIDs: 8, Preferred: -1, Exclude: -1, ClaimID: claimID, Now: time.Now().UnixMilli(), FenceWindow: 30_000}
}

func renewal(claimID string, l driver.Lease) driver.Renewal {
	return driver.Renewal{Namespace: "x", Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: claimID, FenceWindow: 30_000}
}

// Stores that start at the same time, on a database without tables, have one worker ID each.
func TestManyStarts(t *testing.T) {
	for mode, pragmas := range modes {
		t.Run(mode, func(t *testing.T) {
			const starts = 8
			dsn := temporary(t, pragmas)
			var mu sync.Mutex
			workers := map[int64]bool{}
			var wg sync.WaitGroup
			for i := range starts {
				db := openFile(t, dsn)
				wg.Go(func() {
					l, err := mustNew(New(db, Config{})).Claim(t.Context(), request("x", fmt.Sprint("claim ", i)))
					if err != nil || l.Start > time.Now().UnixMilli() {
						t.Errorf("%+v, %v", l, err)
					}
					mu.Lock()
					defer mu.Unlock()
					workers[l.Worker] = true
				})
			}
			if wg.Wait(); len(workers) != starts {
				t.Errorf("%d worker IDs", len(workers))
			}
		})
	}
}

// Records are counted in the step that makes them, and namespaces too.
func TestCounted(t *testing.T) {
	db := openFile(t, temporary(t, ""))
	for i, namespace := range []string{"x", "y", "x"} {
		c := request(namespace, fmt.Sprint("claim ", i))
		c.WorkerIDs, c.Preferred = 1000, int64(i)*100-100
		if c.Preferred < 0 {
			c.Preferred = -1
		}
		if _, err := mustNew(New(db, Config{})).Claim(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	var wrong, records, namespaces int
	if err := db.QueryRow("SELECT (SELECT COUNT(*) FROM snow_namespace n WHERE seen <> CASE namespace WHEN '*' THEN 2 ELSE (SELECT COUNT(*) FROM snow_lease l WHERE l.namespace = n.namespace) END),"+
		" (SELECT COUNT(*) FROM snow_lease), (SELECT COUNT(*) FROM snow_namespace)").Scan(&wrong, &records, &namespaces); err != nil || wrong != 0 || records != driver.MakeAtOnce+2 || namespaces != 3 {
		t.Errorf("%d of %d namespaces count wrongly, %d records, %v", wrong, namespaces, records, err)
	}
}

// The tables have the name that is set. Those that DDL has made do, and one that is missing is an
// error with its statement if it may not be created.
func TestNamedTables(t *testing.T) {
	db := openFile(t, temporary(t, ""))
	cfg := Config{Table: "Numbers_of_Order", NoCreate: true}
	_, err := mustNew(New(db, cfg)).Claim(t.Context(), request("x", "a"))
	tables, _ := Config{Dialect: ddl.SQLite, Table: "main." + cfg.Table}.DDL()
	if !driver.IsPermanent(err) || !strings.Contains(err.Error(), tables[0]+"; "+tables[1]+";") {
		t.Errorf("%v, want %q", err, tables)
	}
	mustExec(t, db, tables...)
	if l, err := mustNew(New(db, cfg)).Claim(t.Context(), request("x", "a")); err != nil || l.Start < time.Now().UnixMilli() {
		t.Errorf("in tables that others have made: %+v, %v", l, err)
	}
	cfg.Table = "nowhere.w"
	if _, err := mustNew(New(db, cfg)).Claim(t.Context(), request("x", "a")); err == nil {
		t.Error("no error in a schema that does not exist")
	}
}

// A database in memory does. Two of them in one pool never give a worker ID twice.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		dsn    string
		limit  int
		second string // the error of a second connection
	}{
		{":memory:", 1, ""}, {"file::memory:?cache=shared", 0, ""}, {":memory:", 0, "SetMaxOpenConns(1)"},
	} {
		db := openFile(t, c.dsn)
		db.SetMaxOpenConns(c.limit)
		s := mustNew(New(db, Config{}))
		l, err := s.Claim(t.Context(), request("x", "a"))
		if err != nil || l.Start > time.Now().UnixMilli() {
			t.Fatalf("%s: %+v, %v", c.dsn, l, err)
		}
		if _, err := s.Renew(t.Context(), renewal("a", l)); err != nil {
			t.Errorf("%s: %v", c.dsn, err)
		}
		if c.limit == 0 {
			busy, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Store{s, mustNew(New(db, Config{}))} {
				other, err := s.Claim(t.Context(), request("x", "b"))
				if (err == nil) != (c.second == "") || err == nil && other.Worker == l.Worker || err != nil && !strings.Contains(err.Error(), c.second) {
					t.Errorf("%s: %+v, %v", c.dsn, other, err)
				}
			}
			_ = busy.Close()
		}
		var lossy *driver.DurabilityError
		if _, err := s.Reserve(t.Context(), "x", 1); c.second == "" && (!errors.As(err, &lossy) || lossy.Setting != "file") {
			t.Errorf("%s: %v", c.dsn, err)
		}
	}
}

// A file that was replaced by a copy is another life of the store. In WAL mode, a connection keeps using
// the old file; the store no longer uses such a connection.
func TestReplacedFile(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		t.Run(mode, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "shop.sqlite")
			dsn := "file:" + file + modes[mode]
			first := openFile(t, dsn)
			s := mustNew(New(first, Config{}))
			old, err := s.Claim(t.Context(), request("x", "a"))
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, first, "VACUUM INTO '"+file+".copy'")
			forgotten, err := s.Claim(t.Context(), request("x", "b"))
			if err != nil {
				t.Fatal(err)
			}
			busy, err := first.Conn(t.Context()) // to the old file
			if err != nil {
				t.Fatal(err)
			}
			if err := busy.PingContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(file + suffix)
			}
			if err := os.Rename(file+".copy", file); err != nil {
				t.Fatal(err)
			}
			_ = busy.Close()
			if l, err := s.Renew(t.Context(), renewal("b", forgotten)); err == nil {
				t.Errorf("renewed in the old file: %+v", l)
			}
			_ = first.Close()
			s = mustNew(New(openFile(t, dsn), Config{}))
			if next, err := s.Claim(t.Context(), request("x", "c")); err != nil || next.Start < forgotten.Fence || !next.FloorRaised {
				t.Errorf("after %+v was forgotten: %+v, %v", forgotten, next, err)
			}
			if _, err := s.Renew(t.Context(), renewal("b", forgotten)); !errors.Is(err, driver.ErrNotHeld) {
				t.Errorf("%v, want ErrNotHeld", err)
			}
			if _, err := s.Renew(t.Context(), renewal("a", old)); err != nil {
				t.Error(err)
			}
		})
	}
}

// In WAL mode, a file that programs may find by two paths is an error.
func TestHardLink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	db := openFile(t, "file:"+file+modes["wal"])
	mustExec(t, db, "CREATE TABLE orders (id INTEGER PRIMARY KEY)")
	if err := os.Link(file, file+"2"); err != nil {
		t.Fatal(err)
	}
	if _, err := mustNew(New(db, Config{})).Claim(t.Context(), request("x", "a")); !driver.IsPermanent(err) || !strings.Contains(err.Error(), "hard links") {
		t.Error(err)
	}
}

// A transaction that was left open on a pool's only connection would undo a write when it is rolled back:
// the store refuses the connection. A closed pool is an error at once.
func TestSessionOfOthers(t *testing.T) {
	db := openFile(t, temporary(t, "?_pragma=busy_timeout(60000)"))
	db.SetMaxOpenConns(1)
	s := mustNew(New(db, Config{}))
	l, err := s.Claim(t.Context(), request("x", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Reserve(t.Context(), "starts", 1); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	mustExec(t, db, "BEGIN")
	_, reserved := s.Reserve(t.Context(), "starts", 1)
	_, renewed := s.Renew(t.Context(), renewal("a", l))
	if !errors.Is(reserved, errOpen) || !errors.Is(renewed, errOpen) {
		t.Errorf("%v, %v", reserved, renewed)
	}
	mustExec(t, db, "ROLLBACK", "PRAGMA synchronous = OFF")
	if _, err := s.Renew(t.Context(), renewal("a", l)); err != nil {
		t.Error(err)
	}
	var level int
	if err := db.QueryRow("PRAGMA synchronous").Scan(&level); err != nil || level != 0 {
		t.Errorf("the connection has synchronous = %d afterwards, %v", level, err)
	}
	mustExec(t, db, "PRAGMA journal_mode = memory")
	var lossy *driver.DurabilityError
	if _, err := s.Reserve(t.Context(), "starts", 1); !errors.As(err, &lossy) || lossy.Setting != "journal_mode" {
		t.Error(err)
	}
	_ = db.Close()
	if err := s.Release(t.Context(), driver.Release{Namespace: "x", Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: "a"}); !driver.IsPermanent(err) {
		t.Error(err)
	}
}
