package sqlgen

import (
	"database/sql"
	"slices"
	"strings"
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

// A change of the worker IDs waits for open transactions. If it fails, the generator continues with
// the worker IDs that it has, and no id comes twice.
func TestMariaDBClaimFails(t *testing.T) {
	admin, dsn := mariaDatabase(t)
	g := mariaOrders
	g.Workers = []int64{9, 7}
	mariaCreate(t, admin, g, mariaEach...)
	mariaRun(t, admin, "INSERT INTO snow_worker SELECT space, 11, 'a program', epoch, until_ts, expires_at, owner FROM snow_worker WHERE worker = 7")
	var found ids
	session := func() *sql.DB {
		db := mariaSession(t, dsn)
		mariaRun(t, db, "SET @each = 1")
		return db
	}
	from := func(t *testing.T, db *sql.DB, want ...int64) {
		t.Helper()
		got, err := mariaValues(t, db, "SELECT snowkey_next('orders') FROM seq_1_to_200")
		if err != nil {
			t.Fatal(err)
		}
		var last int64
		found.add(t, &last, got...)
		for _, id := range got {
			if parts, err := core.Twitter().Decode(id); err != nil || !slices.Contains(want, parts.Worker) {
				t.Fatalf("%+v, %v; want a worker ID of %v", parts, err, want)
			}
		}
	}
	open, other := session(), session()
	from(t, other, 9, 7)
	for list, want := range map[string]string{"20,11": "is held", "20,20": "is held", "20,1024": "fewer worker IDs", "": "must be numbers"} {
		t.Run(list, func(t *testing.T) {
			mariaRefused(t, admin, want, "CALL snowkey_claim('"+list+"')")
			from(t, other, 9, 7)
			from(t, session(), 9, 7)
		})
	}

	const claim, timeout = "CALL snowkey_claim('20')", "Lock wait timeout"
	mariaRun(t, open, "START TRANSACTION")
	from(t, open, 9, 7)
	mariaRun(t, admin, "SET lock_wait_timeout = 1")
	mariaRefused(t, admin, timeout, claim)
	from(t, open, 9, 7)
	from(t, other, 9, 7)

	// A call that comes while the claim waits, in a transaction that stays open.
	mariaRun(t, admin, "SET lock_wait_timeout = 20")
	claimed, called := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := admin.ExecContext(t.Context(), claim)
		claimed <- err
	}()
	mariaRun(t, other, "START TRANSACTION")
	waits := func(statement string) {
		t.Helper()
		deadline := time.Now().Add(15 * time.Second) // before the claim gives up
		for mariaOne[int](t, open, "SELECT COUNT(*) FROM information_schema.PROCESSLIST, (SELECT SLEEP(0.02)) s WHERE DB = DATABASE() AND STATE LIKE 'Waiting for table metadata lock%' AND INFO LIKE ?", statement) == 0 {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not wait", statement)
			}
		}
	}
	waits("TRUNCATE%")
	go func() {
		_, err := mariaValues(t, other, mariaNext)
		called <- err
	}()
	waits("SELECT snowkey_next%")
	mariaRun(t, open, "COMMIT")
	if err := <-called; err == nil || !strings.Contains(err.Error(), "has no worker IDs") {
		t.Errorf("the call: %v", err)
	}
	if err := <-claimed; err == nil || !strings.Contains(err.Error(), timeout) {
		t.Errorf("the claim, beside the second transaction: %v", err)
	}
	from(t, session(), 9, 7)
	mariaRun(t, other, "ROLLBACK")
	from(t, other, 9, 7)
	mariaRun(t, admin, claim)
	from(t, session(), 20)
	from(t, other, 20)
	if n := mariaOne[int](t, admin, "SELECT COUNT(*) FROM snow_worker WHERE token LIKE 'sql-generator:%'"); n != 1 {
		t.Errorf("the generator has %d worker IDs, want 1", n)
	}
	mariaRun(t, admin, "CALL snowkey_claim('31,30')")
	from(t, other, 31, 30)
}
