package sqlgen

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The server flushes its log every two seconds, and not when transactions commit.
var mariaLazy = []string{"--innodb-flush-log-at-trx-commit=0", "--innodb-flush-log-at-timeout=2"}

// The server is killed while sessions take ids in transactions that never commit, and the clock
// steps back by all of the time that this took. The clients have read the ids; none comes again.
func TestMariaDBKilled(t *testing.T) {
	server := testserver.New(t, testserver.KindMariaDB, mariaLazy...)
	dsn := testserver.Database(t, "mysql", server.DSN)
	mariaCreate(t, mariaSession(t, dsn), mariaOrders, mariaClock...)
	var found ids
	for round := range 2 {
		began := time.Now()
		for range 2 {
			const sessions = 4
			// The clock shows the same time as before the crash. A round does not wait for the one before.
			shift := int64(round)*20_000 - time.Since(began).Milliseconds()
			var mu sync.Mutex
			var running sync.WaitGroup
			enough := make(chan struct{}, 10_000)
			for range sessions {
				db := mariaSession(t, dsn)
				running.Go(func() {
					if _, err := db.Exec("SET autocommit = 0, @shift = ?", shift); err != nil {
						t.Error(err)
						return
					}
					var last int64
					for {
						got, err := mariaValues(t, db, mariaMany)
						if err != nil {
							return
						}
						mu.Lock()
						found.add(t, &last, got...)
						mu.Unlock()
						enough <- struct{}{}
					}
				})
			}
			for range 3 * sessions {
				select {
				case <-enough:
				case <-time.After(time.Minute):
					t.Fatal("no ids for a minute")
				}
			}
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			running.Wait()
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d ids, 4 crashes", len(found.seen))
}

// The server is killed at once after an id for which the fence had to be raised, before its log is
// flushed of itself, and the clock steps back by a second. The next id is above it: the call had
// waited until the log with the fence was flushed.
func TestMariaDBUnflushed(t *testing.T) {
	server := testserver.New(t, testserver.KindMariaDB, mariaLazy...)
	dsn := testserver.Database(t, "mysql", server.DSN)
	db := mariaSession(t, dsn)
	mariaCreate(t, db, mariaOrders, mariaClock...)
	for round := range int64(2) {
		mariaFlushed(t, db)
		shift, began := (round+1)*60_000, time.Now() // beyond the fence of the round before
		mariaRun(t, db, "SET autocommit = 0", fmt.Sprint("SET @shift = ", shift))
		last := mariaOne[int64](t, db, next)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		db = mariaSession(t, dsn)
		mariaRun(t, db, fmt.Sprint("SET @shift = ", shift-1000-time.Since(began).Milliseconds()))
		if id := mariaOne[int64](t, db, next); id <= last {
			t.Errorf("after crash %d: %d, and before it %d", round, id, last)
		}
	}
}

// mariaFlushed waits until the server has flushed all that it has logged.
func mariaFlushed(t *testing.T, db *sql.DB) {
	t.Helper()
	const status = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
	lsn := mariaOne[int64](t, db, status+"'INNODB_LSN_CURRENT'")
	for deadline := time.Now().Add(time.Minute); mariaOne[int64](t, db, status+"'INNODB_LSN_FLUSHED'") < lsn; {
		if time.Now().After(deadline) {
			t.Fatal("the log is not flushed")
		}
		mariaRun(t, db, "DO SLEEP(0.01)")
	}
}

// What the generator assumes of AUTO_INCREMENT: a rollback does not lower it, another
// transaction's rows do not delay it, an older snapshot sees it as it is, and after a crash it is
// what the flushed log says.
func TestMariaDBCounters(t *testing.T) {
	server := testserver.New(t, testserver.KindMariaDB, mariaLazy...)
	dsn := testserver.Database(t, "mysql", server.DSN)
	db, other := mariaSession(t, dsn), mariaSession(t, dsn)
	mariaRun(t, db, "CREATE TABLE c (n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, session BIGINT UNSIGNED NOT NULL PRIMARY KEY, KEY (n)) ENGINE=InnoDB")
	at := func(on string) int64 {
		t.Helper()
		of := db
		if on == "other" {
			of = other
		}
		return mariaOne[int64](t, of, "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'c'")
	}
	want := func(n int64, after string) {
		t.Helper()
		if a, b := at("db"), at("other"); a != n || b != n {
			t.Errorf("%s: %d, and for an older snapshot %d; want %d", after, a, b, n)
		}
	}
	mariaRun(t, other, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
	mariaRun(t, db, "START TRANSACTION", "INSERT INTO c VALUES (1000, 1)", "DELETE FROM c WHERE session = 1")
	want(1001, "a greater value")
	mariaRun(t, other, "INSERT INTO c (session) VALUES (2)", "INSERT INTO c VALUES (500, 3)", "DELETE FROM c WHERE session IN (2, 3)")
	want(1002, "a smaller value")
	mariaRun(t, db, "ROLLBACK")
	want(1002, "a rollback")

	mariaFlushed(t, db)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	db, other = mariaSession(t, dsn), mariaSession(t, dsn)
	want(1002, "a crash, with an open transaction")
}

// Replicas get the ids of the primary: statements are logged as rows, or rejected.
func TestMariaDBBinaryLog(t *testing.T) {
	server := testserver.New(t, testserver.KindMariaDB, "--log-bin=log", "--server-id=7", "--log-bin-trust-function-creators=1")
	dsn := testserver.Database(t, "mysql", server.DSN)
	db := mariaSession(t, dsn)
	mariaRun(t, db, "SET binlog_format = 'MIXED'")
	mariaCreate(t, db, mariaOrders)
	mariaTable(t, db, mariaOrders, "orders")
	file := mariaOne[string](t, db, "SELECT @@binlog_format")
	for range 2 {
		mariaRun(t, db, "INSERT INTO orders (v) VALUES (41), (42)")
	}
	rows, err := db.Query("SHOW BINLOG EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	written := 0
	for rows.Next() {
		var log, kind, info string
		var pos, id, end int64
		if err := rows.Scan(&log, &pos, &kind, &id, &end, &info); err != nil {
			t.Fatal(err)
		}
		if kind == "Write_rows_v1" || kind == "Write_rows" || kind == "Write_rows_compressed_v1" {
			written++
		}
		if kind == "Query" && len(info) > 6 && strings.Contains(info, "INSERT INTO orders") {
			t.Errorf("in %s: logged as a statement: %s", file, info)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if written < 2 {
		t.Errorf("%d events with rows", written)
	}
	statement := mariaSession(t, dsn)
	mariaRun(t, statement, "SET binlog_format = 'STATEMENT'")
	mariaRefused(t, statement, "binlog_format is STATEMENT", "INSERT INTO orders (v) VALUES (1)")
}
