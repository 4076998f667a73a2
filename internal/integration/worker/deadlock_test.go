package worker

import (
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Without autocommit, a serializable read of MySQL locks the rows, and may be the victim of a
// deadlock. It is then repeated.
func TestListIsUndone(t *testing.T) {
	for _, server := range testserver.MySQLs(t) {
		e := newMySQL(t, server.DSN)
		root, admin, cfg := open(t, "mysql", server.DSN), e.open(t), e.mysql(t)
		cfg.Params = serializable(t, root)
		cfg.Params["autocommit"] = "0"
		store := mustNew(sqlstore.New(open(t, "mysql", cfg.FormatDSN()), lossy))
		for _, token := range []string{"a", "b", "c"} {
			_, err := store.Claim(t.Context(), driver.Request{
				Namespace: "x", Layout: "x", WorkerIDs: 3, Preferred: -1, Exclude: -1, ClaimID: token, Owner: "test",
				Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 60_000, MaxSkew: 600_000, MaxLead: 1 << 40,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		deadlocks := func() (n int) {
			t.Helper()
			if err := root.QueryRow("SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := deadlocks()
		tx, err := admin.Begin()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback() }) // or its database cannot be dropped
		change := func(number int) {
			t.Helper()
			if _, err := tx.Exec("UPDATE snow_worker SET owner = 'operator' WHERE space = 'x' AND worker = ?", number); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 50 { // so that it is the one with more to lose
			if _, err := tx.Exec("INSERT INTO snow_worker VALUES ('elsewhere', ?, '', 0, 0, 0, '')", n); err != nil {
				t.Fatal(err)
			}
		}
		change(2)
		listed := make(chan error, 1)
		go func() {
			rows, err := store.List(t.Context(), "x")
			if err == nil && (len(rows) != 3 || rows[0].Owner != "operator") {
				t.Errorf("%+v", rows)
			}
			listed <- err
		}()
		await(t, "read that waits for number 2", func() bool {
			// The server refreshes this table only 100 ms after the last read.
			time.Sleep(200 * time.Millisecond)
			var waiting int
			// The server may be shared: waits of other databases do not count.
			err := root.QueryRow("SELECT COUNT(*) FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = ?", cfg.DBName).Scan(&waiting)
			return err == nil && waiting > 0
		})
		change(0) // which the read has locked
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-listed; err != nil {
			t.Error(err)
		}
		if n := deadlocks(); n <= before {
			t.Errorf("%s: %d deadlocks before, %d now: nothing was undone", server, before, n)
		}
	}
}
