package sqlgen

import (
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// mariaEach makes each call of the function take a block while @each is set.
var mariaEach = []string{" AND UNIX_TIMESTAMP() <= ", " AND @each IS NULL AND UNIX_TIMESTAMP() <= "}

// Sessions that take blocks in transactions which stay open delay no other session, as a lock that
// lasts to the end of a transaction would.
func TestMariaDBOpenTransactions(t *testing.T) {
	admin, dsn := mariaDatabase(t)
	g := mariaOrders
	g.Count = 4
	mariaCreate(t, admin, g, mariaEach...)
	got := make([][]int64, 8)
	longest := make([]time.Duration, len(got))
	var all sync.WaitGroup
	for i := range got {
		db := mariaSession(t, dsn+"?innodb_lock_wait_timeout=2")
		mariaRun(t, db, "SET @each = 1")
		if i%2 == 0 {
			mariaRun(t, db, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
		}
		all.Go(func() {
			for range 5 {
				start := time.Now()
				mine, err := mariaValues(t, db, "SELECT snowkey_next('orders') FROM seq_1_to_500")
				if err != nil {
					t.Error(err)
					return
				}
				got[i], longest[i] = append(got[i], mine...), max(longest[i], time.Since(start))
			}
		})
	}
	all.Wait()
	var found ids
	for _, of := range got {
		var last int64
		found.add(t, &last, of...)
	}
	t.Logf("%d blocks; the longest 500 of each session took %v", len(found.seen), longest)
}

// A session that was killed while it had its turn delays the others for a moment only, until it
// ends or takes its next block.
func TestMariaDBLeftTurn(t *testing.T) {
	admin, dsn := mariaDatabase(t)
	mariaCreate(t, admin, mariaOrders, mariaEach...)
	killed, other := mariaSession(t, dsn), mariaSession(t, dsn)
	mariaRun(t, killed, "SET @each = 1")
	mariaRun(t, other, "SET @each = 1")
	mariaOne[int64](t, other, mariaNext)
	const turn = "CONCAT('snowkey turn ', MD5(CONCAT(DATABASE(), ' snowkey_')))"
	if got := mariaOne[int](t, killed, "SELECT GET_LOCK("+turn+", 0)"); got != 1 {
		t.Fatalf("GET_LOCK: %d", got)
	}
	start := time.Now()
	mariaOne[int64](t, other, mariaNext)
	if took := time.Since(start); took < 200*time.Millisecond || took > 20*time.Second {
		t.Errorf("a block took %v, want a moment", took)
	}
	mariaOne[int64](t, killed, mariaNext)
	if !mariaOne[bool](t, other, "SELECT IS_FREE_LOCK("+turn+")") {
		t.Error("the turn is still taken after the next block")
	}
}

// A change of the worker IDs waits for an open transaction, for as long as the caller wants. If it
// gives up, the generator continues with the worker IDs that it has.
func TestMariaDBClaimWaits(t *testing.T) {
	admin, dsn := mariaDatabase(t)
	g := mariaOrders
	g.Workers = []int64{7}
	mariaCreate(t, admin, g)
	open, other := mariaSession(t, dsn), mariaSession(t, dsn)
	mariaRun(t, open, "START TRANSACTION")
	var found ids
	next := func(db *sql.DB, want int64) {
		t.Helper()
		id := mariaOne[int64](t, db, mariaNext)
		found.add(t, new(int64), id)
		if parts, err := core.Twitter().Decode(id); err != nil || parts.Worker != want {
			t.Errorf("%+v, %v; want worker ID %d", parts, err, want)
		}
	}
	next(open, 7)
	mariaRun(t, admin, "SET lock_wait_timeout = 1")
	mariaRefused(t, admin, "Lock wait timeout", "CALL snowkey_claim('20')")
	next(open, 7)
	next(other, 7)
	mariaRun(t, open, "COMMIT")
	mariaRun(t, admin, "CALL snowkey_claim('20')")
	next(mariaSession(t, dsn), 20)
}
