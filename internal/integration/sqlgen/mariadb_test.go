package sqlgen

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Eight sessions by function and by trigger, some in transactions that roll back or stay open,
// and a Go program with a lease of the namespace make no id twice.
func TestMariaDBSessionsAndLease(t *testing.T) {
	for name, g := range map[string]ddl.Generator{
		"one worker ID": mariaOrders,
		"three":         {Dialect: ddl.MySQL, Namespace: "orders", Workers: []int64{7, 500, 501}},
		"sonyflake":     {Dialect: ddl.MySQL, Namespace: "orders", Layout: core.Sonyflake(), Count: 2},
	} {
		t.Run(name, func(t *testing.T) {
			admin, dsn := mariaDatabase(t)
			mariaCreate(t, admin, g)
			mariaTable(t, admin, g, "orders")
			got := make([][]int64, 9)
			var sessions sync.WaitGroup
			for i := range got[1:] {
				db := mariaSession(t, dsn)
				if i%2 == 0 {
					mariaRun(t, db, "START TRANSACTION WITH CONSISTENT SNAPSHOT") // is open to the end
				}
				sessions.Go(func() {
					for range 10 {
						mine, err := mariaValues(t, db, "INSERT INTO orders (v) SELECT seq FROM seq_1_to_3000 RETURNING id")
						if i%2 != 0 && err == nil {
							var more []int64
							more, err = mariaValues(t, db, mariaMany)
							mine = append(mine, more...)
						}
						if err != nil {
							t.Error(err)
							return
						}
						got[i+1] = append(got[i+1], mine...)
					}
					if i%4 == 0 {
						mariaRun(t, db, "ROLLBACK")
					}
				})
			}
			gen, err := sqlstore.Open(t.Context(), mariaSession(t, dsn), sqlstore.Config{AllowDataLoss: true, Lease: worker.Config{Namespace: "orders", Layout: g.Layout}})
			if err != nil {
				t.Fatal(err)
			}
			defer gen.Close(context.Background())
			got[0] = make([]int64, 500)
			if err := gen.Fill(t.Context(), got[0]); err != nil {
				t.Fatal(err)
			}
			sessions.Wait()
			var found ids
			for _, of := range got {
				if g.Layout.SequenceFirst { // whose worker IDs alternate within a tick
					slices.Sort(of)
				}
				var last int64
				found.add(t, &last, of...)
			}
			if want := 500 + 8*30_000 + 4*30_000; len(found.seen) != want {
				t.Errorf("%d ids, want %d", len(found.seen), want)
			}
		})
	}
}

// An insert may name the key, or leave it out in any way. Each statement is the first of a new
// session, and then the second.
func TestMariaDBInserts(t *testing.T) {
	admin, dsn := mariaDatabase(t)
	mariaCreate(t, admin, mariaOrders)
	mariaTable(t, admin, mariaOrders, "orders")
	var found ids
	for _, insert := range []string{
		"INSERT INTO orders (v) VALUES (1), (2)", "INSERT INTO orders VALUES (NULL, 1), (0, 2), (DEFAULT, 3)", "INSERT INTO orders SET v = 1",
		"INSERT INTO orders (v) SELECT seq FROM seq_1_to_5000", "INSERT INTO orders SELECT NULL, seq FROM seq_1_to_10", "INSERT IGNORE INTO orders (v) VALUES (1)",
		"REPLACE INTO orders (v) VALUES (1)", "INSERT INTO orders (v) VALUES (1) ON DUPLICATE KEY UPDATE v = 2",
	} {
		t.Run(insert, func(t *testing.T) {
			db := mariaSession(t, dsn)
			for range 2 {
				mariaRun(t, admin, "DELETE FROM orders")
				mariaRun(t, db, insert)
				var last int64
				found.add(t, &last, mariaAll(t, admin, "SELECT id FROM orders ORDER BY id")...)
				near(t, last, 5*time.Second, 12*time.Second)
			}
		})
	}
	mariaRun(t, admin, "INSERT INTO orders VALUES (5, 5)")
	if id := mariaOne[int64](t, admin, "SELECT id FROM orders WHERE v = 5 AND id < 10"); id != 5 {
		t.Errorf("a key that is given became %d", id)
	}
	mariaRefused(t, admin, "another namespace", "SELECT snowkey_next('Orders')")
	mariaRefused(t, admin, "another namespace", "SELECT snowkey_next(NULL)")
	mariaRun(t, admin, "SET insert_id = 5")
	mariaRefused(t, mariaSession(t, dsn+"?insert_id=5"), "insert_id", mariaNext)
}

// An idle session does not issue the rest of an old block, and a clock that is set back or
// forward moves no id outside of MaxAhead.
func TestMariaDBClock(t *testing.T) {
	admin, dsn := mariaDatabase(t)
	mariaCreate(t, admin, mariaOrders, mariaClock...)
	var found ids
	var last int64
	take := func(shift string) int64 {
		t.Helper()
		db := mariaSession(t, dsn)
		mariaRun(t, db, "SET @shift = "+shift)
		got := mariaAll(t, db, mariaMany)
		var of int64
		found.add(t, &of, got...)
		last = max(last, of)
		return of
	}
	take("0")
	back := take("-4000")
	if back < last-3000 {
		t.Errorf("the clock went back, and so did the ids: %d after %d", back, last)
	}
	take("3600000") // the clock leaps ahead, and comes back
	db := mariaSession(t, dsn)
	start := time.Now()
	mariaRefused(t, db, "too far ahead of the clock", mariaNext)
	if waited := time.Since(start); waited > 30*time.Second {
		t.Errorf("the error took %v", waited)
	}
	take("3601000")
}

// No build of this module claims the worker ID of a generator, even after one has freed it.
func TestMariaDBReservation(t *testing.T) {
	admin, dsn := mariaDatabase(t)
	mariaCreate(t, admin, ddl.Generator{Dialect: ddl.MySQL, Namespace: "orders", Workers: []int64{3}})
	store, err := sqlstore.New(mariaSession(t, dsn), sqlstore.Config{AllowDataLoss: true})
	if err != nil {
		t.Fatal(err)
	}
	three := int64(3)
	claim := func() error {
		_, err := worker.Open(t.Context(), store, worker.Config{Namespace: "orders", Preferred: &three, RequirePreferred: true, ClaimWait: time.Second})
		return err
	}
	var none *worker.NoWorkerIDError
	if err := claim(); !errors.As(err, &none) {
		t.Fatalf("claimed: %v", err)
	}
	if err := store.Free(t.Context(), "orders", 3, 1); err != nil {
		t.Fatal(err)
	}
	if err := claim(); !errors.As(err, &none) {
		t.Fatalf("claimed after free: %v", err)
	}
	first := mariaOne[int64](t, admin, mariaNext)
	near(t, first, time.Minute, 12*time.Second)

	// Other worker IDs, and a drop, which releases them where the ids end.
	more := ddl.Generator{Dialect: ddl.MySQL, Namespace: "orders", Workers: []int64{9, 11}}
	mariaCreate(t, admin, more)
	mariaCreate(t, admin, more) // changes nothing
	if n := mariaOne[int](t, admin, "SELECT COUNT(*) FROM snow_worker WHERE token LIKE 'sql-generator:%' AND worker IN (9, 11) AND epoch = 1"); n != 2 {
		t.Errorf("%d worker IDs, want 2", n)
	}
	last := mariaOne[int64](t, mariaSession(t, dsn), mariaNext)
	mariaRun(t, admin, script(t)(more.Drop())...)
	fence := mariaOne[int64](t, admin, "SELECT MIN(until_ts) FROM snow_worker WHERE worker IN (9, 11) AND token = ''")
	if parts, err := core.Twitter().Decode(last); err != nil || parts.Time.UnixMilli() >= fence {
		t.Errorf("an id of %v, after the fence %v, %v", parts.Time, time.UnixMilli(fence), err)
	}
	mariaRun(t, admin, script(t)(more.Drop())...) // nothing is there

	held := ddl.Generator{Dialect: ddl.MySQL, Namespace: "orders", Workers: []int64{9}}
	mariaRun(t, admin, "UPDATE snow_worker SET token = 'x', expires_at = 9007199254740991 WHERE worker = 9")
	create := script(t)(held.Create())
	failed := false
	for _, statement := range create {
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			failed = true
		}
	}
	if !failed {
		t.Error("it took a worker ID that is held")
	}
}

// A database that was restored, under another name or its own, makes no id until it has claimed
// worker IDs of its own.
func TestMariaDBCopy(t *testing.T) {
	for _, name := range []string{"other database", "same name"} {
		t.Run(name, func(t *testing.T) {
			admin, dsn := mariaDatabase(t)
			mariaCreate(t, admin, mariaOrders)
			last := mariaOne[int64](t, admin, mariaNext)
			from := mariaOne[string](t, admin, "SELECT DATABASE()")
			kept := from + "_dump"
			mariaRun(t, admin, "CREATE DATABASE "+kept)
			t.Cleanup(func() { _, _ = mariaSession(t, dsn).ExecContext(context.Background(), "DROP DATABASE "+kept) })
			tables := []string{"snow_worker_space", "snow_worker", "snowkey_generator", "snowkey_cursor", "snowkey_fence", "snowkey_ready"}
			restore := func(to, from string) {
				for _, table := range tables { // as a dump does it, with the values of AUTO_INCREMENT
					mariaRun(t, admin, "CREATE TABLE "+to+"."+table+" LIKE "+from+"."+table, "INSERT INTO "+to+"."+table+" SELECT * FROM "+from+"."+table)
					if at := mariaOne[*int64](t, admin, "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?", from, table); at != nil {
						mariaRun(t, admin, "ALTER TABLE "+to+"."+table+" AUTO_INCREMENT = "+strconv.FormatInt(*at, 10))
					}
				}
			}
			restore(kept, from)
			to := kept
			if name == "same name" {
				time.Sleep(1100 * time.Millisecond) // a table's time of creation is in seconds
				mariaRun(t, admin, "DROP DATABASE "+from, "CREATE DATABASE "+from)
				restore(from, kept)
				to = from
			}
			mariaRun(t, admin, "USE "+to)
			for _, statement := range script(t)(mariaOrders.Create()) { // the routines of the dump
				if statement != "CALL `snowkey_claim`(NULL)" {
					mariaRun(t, admin, statement)
				}
			}
			db := mariaSession(t, dsn)
			mariaRun(t, db, "USE "+to)
			mariaRefused(t, db, "is a copy or was restored", mariaNext)
			mariaRefused(t, admin, "which worker IDs are free", "CALL snowkey_claim(NULL)")
			mariaRefused(t, admin, "is held", "CALL snowkey_claim('1023')")
			mariaRefused(t, admin, "must be numbers", "CALL snowkey_claim('5;6')")
			mariaRefused(t, admin, "fewer worker IDs", "CALL snowkey_claim('1024')")
			mariaRun(t, admin, "CALL snowkey_claim('700, 701')")
			id := mariaOne[int64](t, db, mariaNext)
			was, _ := core.Twitter().Decode(last)
			is, err := core.Twitter().Decode(id)
			if err != nil || is.Worker == was.Worker {
				t.Errorf("%+v after %+v, %v", is, was, err)
			}
		})
	}
}

// MySQL rejects the script with a reason. There is one only if the environment names it.
func TestMySQLHasNone(t *testing.T) {
	for _, server := range testserver.MySQLs(t) {
		db := mariaSession(t, testserver.Database(t, "mysql", server.DSN))
		if strings.Contains(mariaOne[string](t, db, "SELECT VERSION()"), "MariaDB") {
			continue
		}
		if statements := script(t)(mariaOrders.Create()); len(statements) > 0 {
			mariaRefused(t, db, "MySQL has no generator", statements[0])
		}
		mariaRun(t, db, "CREATE FUNCTION next_id() RETURNS BIGINT NO SQL DETERMINISTIC RETURN 1")
		mariaRefused(t, db, "disallowed function", "CREATE TABLE t (id BIGINT PRIMARY KEY DEFAULT (next_id()))")
	}
}
