package sqlgen

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// testClock is a clock that tests move, without a transaction: by a sequence, in milliseconds.
// A generator has it in place of the server's.
var testClock = []string{
	"CREATE SEQUENCE test_shift MINVALUE -1000000000000 START 0",
	"SELECT setval('test_shift', 0)",
	"CREATE FUNCTION test_clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp() + pg_sequence_last_value(''public.test_shift'') * interval ''1 ms'''",
	"CREATE FUNCTION test_step(by interval) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT setval(''test_shift'', pg_sequence_last_value(''public.test_shift'') + (extract(epoch from by) * 1000)::bigint)'",
}

const (
	serverClock = "pg_catalog.clock_timestamp()"
	movedClock  = "public.test_clock()"
)

// createWithClock is create with the clock that tests move.
func createWithClock(t testing.TB, conn *pgx.Conn, g ddl.Generator) {
	t.Helper()
	run(t, conn, testClock...)
	create(t, conn, g, serverClock, movedClock)
}

// setClock sets the clock, and has that flushed.
func setClock(t testing.TB, conn *pgx.Conn, to time.Time) {
	t.Helper()
	run(t, conn, "BEGIN", "SET LOCAL synchronous_commit = on",
		"SELECT setval('test_shift', (extract(epoch FROM '"+to.UTC().Format(time.RFC3339Nano)+"' - clock_timestamp()) * 1000)::bigint)", "COMMIT")
}

// Whatever the clock does, no id comes twice, and none is further ahead of the clock than
// MaxAhead. After a step back beyond that, ids are refused until the clock is right again.
func TestClockSteps(t *testing.T) {
	conn := connect(t, database(t))
	createWithClock(t, conn, orders)
	var found ids
	var last int64
	ahead := func() time.Duration {
		parts, err := core.Twitter().Decode(last)
		must(t, err)
		return parts.Time.Sub(one[time.Time](t, conn, "SELECT test_clock()"))
	}
	for _, step := range []string{"0s", "-1s", "-3s", "2s", "-4s", "1h", "-7s", "7s", "-1ms"} {
		run(t, conn, "SELECT test_step('"+step+"')")
		for range 3 {
			found.add(t, &last, all(t, conn, many)...)
			if d := ahead(); d > 10*time.Second {
				t.Errorf("after a step of %s an id is %v ahead", step, d)
			}
		}
	}
	run(t, conn, "SELECT test_step('-1h')")
	refused(t, conn, notReady, "ahead of the clock, and 00:00:10 is the most", next)
	refused(t, conn, notReady, "ahead of the clock", many)
	run(t, conn, "SELECT test_step('1h')")
	found.add(t, &last, all(t, conn, many)...)
	run(t, conn, "SELECT test_step('10 hours')") // an idle night
	found.add(t, &last, one[int64](t, conn, next))
	if d := ahead(); d > time.Second || d < -5*time.Second {
		t.Errorf("after an idle night an id is %v ahead", d)
	}
	// A clock in the future by mistake, once it is right again.
	run(t, conn, "SELECT test_step('1 day')")
	found.add(t, &last, one[int64](t, conn, next))
	run(t, conn, "SELECT test_step('-1 day')")
	refused(t, conn, notReady, "ahead of the clock", next)
	run(t, conn, "SELECT snowkey_claim('{7}')")
	last = 0
	found.add(t, &last, all(t, conn, many)...)
	if d := ahead(); d > time.Second || d < -5*time.Second {
		t.Errorf("under another worker ID an id is %v ahead", d)
	}
}

// More ids than the layout has are waited for, and never run further ahead than MaxAhead.
func TestTooFast(t *testing.T) {
	conn := connect(t, database(t))
	l := core.Layout{TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 2} // 4,000 ids a second
	create(t, conn, ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", Layout: l, MaxAhead: time.Second})
	var found ids
	var last int64
	for range 9 {
		found.add(t, &last, all(t, conn, many)...)
		parts, err := l.Decode(last)
		must(t, err)
		if d := time.Until(parts.Time); d > time.Second {
			t.Errorf("an id is %v ahead", d)
		}
	}
}

// Layouts of all kinds decode to what they were made of.
func TestLayouts(t *testing.T) {
	conn := connect(t, database(t))
	namespaces := uint32(0)
	for name, l := range map[string]core.Layout{
		"twitter": {}, "sonyflake": core.Sonyflake(), "javascript": core.JavaScriptSafe(),
		"one id a tick": {TimeBits: 45, WorkerBits: 10}, "seconds": {Tick: time.Second, TimeBits: 32, WorkerBits: 6, SequenceBits: 20},
		"roll-back":     {TimeBits: 40, RollbackBits: 2, DatacenterBits: 3, WorkerBits: 5, SequenceBits: 13},
		"no worker IDs": {TimeBits: 42, SequenceBits: 21},
	} {
		t.Run(name, func(t *testing.T) {
			for count := 1; count <= 3 && int64(count) <= l.WorkerIDs(); count++ {
				namespaces++
				g := ddl.Generator{Dialect: ddl.Postgres, Layout: l, Namespace: "n" + itoa(namespaces), Count: count, Prefix: name + "_"}
				create(t, conn, g)
				expression, err := g.Default()
				must(t, err)
				var found ids
				var last int64
				used := map[int64]bool{}
				for range 3 {
					found.add(t, &last, all(t, conn, "SELECT "+expression+" FROM generate_series(1, 40)")...)
				}
				for id := range found.seen {
					parts, err := l.Decode(id)
					if err != nil || parts.Rollback != 0 {
						t.Fatalf("%d: %+v, %v", id, parts, err)
					}
					of := parts.Datacenter<<l.WithDefaults().WorkerBits | parts.Worker
					used[of] = true
					if of < l.WorkerIDs()-int64(count) {
						t.Errorf("%d has worker ID %d", id, of)
					}
					if d := time.Until(parts.Time); d < -20*time.Second || d > 10*time.Second && d > 8*l.WithDefaults().Tick {
						t.Errorf("%d is %v from now", id, d)
					}
				}
				run(t, conn, script(t)(g.Drop())...)
			}
		})
	}
}
