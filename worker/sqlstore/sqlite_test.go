package sqlstore

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glebarez/sqlite"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// modes are the pragmas of pools of SQLite.
var modes = map[string]string{
	"wal":       "?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(2)",
	"delete":    "?_pragma=busy_timeout(60000)&_pragma=journal_mode(delete)&_pragma=synchronous(2)",
	"impatient": "", // a locked file is an error at once
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

// temporary returns the DSN of a file of the test, with pragmas.
func temporary(t *testing.T, pragmas string) string {
	return "file:" + filepath.Join(t.TempDir(), "shop.sqlite") + pragmas
}

// deaf is a driver of database/sql that gets no answer, and ignores contexts.
type deaf struct {
	sqldriver.Conn
	ended chan struct{}
}

func (d deaf) Connect(context.Context) (sqldriver.Conn, error) { return d, nil }
func (deaf) Driver() sqldriver.Driver                          { return nil }
func (deaf) Close() error                                      { return nil }
func (d deaf) QueryContext(context.Context, string, []sqldriver.NamedValue) (sqldriver.Rows, error) {
	<-d.ended
	return nil, sqldriver.ErrBadConn
}
func (d deaf) ExecContext(context.Context, string, []sqldriver.NamedValue) (sqldriver.Result, error) {
	<-d.ended
	return nil, sqldriver.ErrBadConn
}

// hung returns a store of a deaf database; known: it was inspected before.
func hungStore(known bool) func(t *testing.T) driver.Store {
	return func(t *testing.T) driver.Store {
		d := deaf{ended: make(chan struct{})}
		db := sql.OpenDB(d)
		t.Cleanup(func() {
			close(d.ended)
			_ = db.Close()
		})
		if known {
			return knowing(db)
		}
		return mustNew(New(db, Config{}))
	}
}

func TestSQLite(t *testing.T) {
	for mode, pragmas := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel() // it waits, mostly
			dsn := temporary(t, pragmas)
			storetest.Run(t, storetest.Harness{Hung: hungStore(mode == "wal"), Open: func(t *testing.T) driver.Store {
				db := openFile(t, dsn)
				if mode == "delete" {
					db.SetMaxOpenConns(1) // which must do
				}
				return mustNew(New(db, Config{AllowDataLoss: true}))
			}})
		})
	}
}

// patience is the timeout of what must happen, on a busy machine.
const patience = 3 * time.Minute

// once makes one attempt, with enough time.
var once = worker.Config{ClaimWait: -1, Timeout: patience}

// acquire leases a worker ID, and gives it back.
func acquire(t *testing.T, s *Store) error {
	t.Helper()
	gen, err := worker.Open(t.Context(), s, once)
	if err != nil {
		return err
	}
	return gen.Close(t.Context())
}

// Processes that start at the same time, on a database without tables, have one worker ID each.
func TestManyStarts(t *testing.T) {
	for mode, pragmas := range modes {
		t.Run(mode, func(t *testing.T) {
			const starts = 8
			dsn := temporary(t, pragmas)
			var mu sync.Mutex
			workers := map[int64]bool{}
			var wg sync.WaitGroup
			for range starts {
				db := openFile(t, dsn)
				wg.Go(func() {
					gen, err := Open(t.Context(), db, Config{Lease: worker.Config{ClaimWait: patience, Timeout: patience}})
					if err != nil {
						t.Error(err)
						return
					}
					t.Cleanup(func() { _ = gen.Close(context.Background()) })
					mu.Lock()
					defer mu.Unlock()
					workers[gen.Worker()] = true
				})
			}
			if wg.Wait(); len(workers) != starts {
				t.Errorf("%d worker IDs", len(workers))
			}
		})
	}
}

// The tables have the name that is set. Those that DDL has made do, and one that is missing is an
// error with its statement if it may not be created.
func TestNamedTables(t *testing.T) {
	db := openFile(t, temporary(t, ""))
	cfg := Config{Table: "Numbers_of_Order", NoCreate: true}
	err := acquire(t, mustNew(New(db, cfg)))
	ddl, _ := Config{Dialect: SQLite, Table: "main." + cfg.Table}.DDL()
	if !driver.IsPermanent(err) || !strings.Contains(err.Error(), ddl[0]+"; "+ddl[1]+";") {
		t.Errorf("%v, want %q", err, ddl)
	}
	for _, statement := range ddl {
		mustExec(t, db, statement)
	}
	if err := acquire(t, mustNew(New(db, cfg))); err != nil {
		t.Error(err)
	}
	cfg.Table = "nowhere.w"
	if err := acquire(t, mustNew(New(db, cfg))); err == nil {
		t.Error("no error in a schema that does not exist")
	}
}

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Settings that may lose a commit are refused, and so is a database that ends with its connection,
// whatever its name. What counts is the database of the table.
func TestLossySettings(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.sqlite")
	for _, c := range []struct{ dsn, attached, table, setting string }{
		{"file:{dir}?_pragma=synchronous(2)", "", "", ""},
		{"file:{dir}?_pragma=synchronous(1)&_pragma=journal_mode(wal)", "", "", ""}, // the store sets it
		{"file:{dir}?_pragma=synchronous(0)", "", "main.w", ""},
		{"file:{dir}?_pragma=journal_mode(memory)", "", "", "journal_mode"},
		{"", "", "", "file"}, {":memory:", "", "", "file"}, {"file:", "", "", "file"}, {"file::memory:?cache=shared", "", "", "file"},
		{"file:?_pragma=journal_mode(wal)&_pragma=synchronous(2)", "", "", "file"}, {"file:x?mode=memory&cache=shared", "", "", "file"},
		{"file:{dir}", ":memory:", "other.w", "file"}, {"file:{dir}", "", "other.w", "file"}, {"file:{dir}", other, "other.w", ""},
		{"file:{dir}", "", "TEMP.w", "Table"}, {"file:{dir}", "", "pg_temp_3.w", "Table"},
	} {
		t.Run(c.dsn+c.attached, func(t *testing.T) {
			db := openFile(t, strings.Replace(c.dsn, "{dir}", filepath.Join(t.TempDir(), "x.sqlite"), 1))
			db.SetMaxOpenConns(1)
			if strings.HasPrefix(c.table, "other.") {
				mustExec(t, db, "ATTACH '"+c.attached+"' AS other")
			}
			s, err := New(db, Config{Table: c.table})
			var config *core.ConfigError
			if c.setting == "Table" {
				if !errors.As(err, &config) || config.Fields[0].Field != "Table" {
					t.Error(err)
				}
				return
			}
			err = acquire(t, s)
			var lossy *driver.DurabilityError
			if (err == nil) != (c.setting == "") || err != nil && (!errors.As(err, &lossy) || lossy.Setting != c.setting) {
				t.Errorf("%v, want %q", err, c.setting)
			}
			if err := acquire(t, mustNew(New(db, Config{Table: c.table, AllowDataLoss: true}))); err != nil {
				t.Errorf("allowed: %v", err)
			}
		})
	}
}

// A setting that is changed while a lease is held stops its renewals. One that the store can set for
// its write, it sets back.
func TestLossyWhileHeld(t *testing.T) {
	for _, c := range []struct{ off, on, setting string }{
		{"PRAGMA journal_mode = memory", "PRAGMA journal_mode = delete", "journal_mode"}, {"PRAGMA synchronous = OFF", "", ""},
	} {
		db := openFile(t, temporary(t, "?_pragma=journal_mode(delete)"))
		db.SetMaxOpenConns(1)
		s := mustNew(New(db, Config{}))
		r := driver.Request{
			Namespace: "x", Layout: "l", WorkerIDs: 8, Preferred: -1, Exclude: -1, ClaimID: "first",
			Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 60_000, MaxSkew: 60_000, MaxLead: 60_000,
		}
		claim, err := s.Claim(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		renew := func() error {
			return s.Renew(t.Context(), driver.Renewal{Namespace: "x", Worker: claim.Worker, FencingToken: claim.FencingToken, ClaimID: "first", Fence: claim.Fence + 1, TTL: 60_000})
		}
		mustExec(t, db, c.off)
		var lossy *driver.DurabilityError
		if err := renew(); (err == nil) != (c.setting == "") || err != nil && (!errors.As(err, &lossy) || lossy.Setting != c.setting) {
			t.Errorf("%s: %v", c.off, err)
		}
		if c.on == "" {
			var level int
			if err := db.QueryRow("PRAGMA synchronous").Scan(&level); err != nil || level != 0 {
				t.Errorf("the connection has synchronous = %d afterwards, %v", level, err)
			}
			continue
		}
		mustExec(t, db, c.on)
		if err := renew(); err != nil {
			t.Error(err)
		}
		// A record without a number for its fence is an error. It is neither skipped nor replaced by a
		// new one, whose fence may be too early.
		mustExec(t, db, "UPDATE snow_worker SET until_ts = 'soon', token = ''")
		r.ClaimID = "second"
		if c, err := s.Claim(t.Context(), r); err == nil {
			t.Errorf("a claim over a record that cannot be read: %+v", c)
		}
	}
}

// A transaction that somebody has left open on the only connection of a pool would undo a write
// when it is rolled back: the store refuses. A temporary table of the same name changes nothing.
func TestSessionOfOthers(t *testing.T) {
	dsn := temporary(t, "?_pragma=busy_timeout(60000)")
	db := openFile(t, dsn)
	db.SetMaxOpenConns(1)
	s := mustNew(New(db, Config{}))
	if err := acquire(t, s); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reserve(t.Context(), "starts", 1); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "BEGIN")
	_, reserved := s.Reserve(t.Context(), "starts", 1)
	for what, err := range map[string]error{"claim": acquire(t, s), "reserve": reserved} {
		if !errors.Is(err, errOpen) {
			t.Errorf("%s: %v", what, err)
		}
	}
	mustExec(t, db, "ROLLBACK", "CREATE TEMPORARY TABLE snow_worker_counter (name TEXT, value INTEGER)")
	mine, err := s.Reserve(t.Context(), "starts", 1)
	theirs, other := mustNew(New(openFile(t, dsn), Config{})).Reserve(t.Context(), "starts", 1)
	if mine != 2 || theirs != 3 || err != nil || other != nil {
		t.Errorf("%d, %d, %v, %v", mine, theirs, err, other)
	}
}
