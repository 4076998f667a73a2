package sqlgen

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// request is a claim of an ordinary lease.
func request(l core.Layout, preferred int64) driver.Claim {
	return driver.Claim{
		Namespace: "orders", Layout: driver.Fingerprint(l), WorkerIDs: l.WorkerIDs(), Preferred: preferred, RequirePreferred: preferred >= 0, Exclude: -1,
		ClaimID: fmt.Sprint("test-", preferred, time.Now().UnixNano()), Owner: "a test", Now: time.Now().UnixMilli(), FenceWindow: 30_000,
	}
}

// The generator's worker IDs are leased without expiry. Nothing else claims them: not while
// they are held, and not after an operator has freed them. After a
// drop they are free, from the generator's fence on.
func TestReservation(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	store, err := sqlstore.New(openDB(t, dsn), sqlstore.Config{})
	must(t, err)
	records := func() []driver.Record {
		t.Helper()
		found, err := store.List(t.Context(), "orders")
		must(t, err)
		return found.Records
	}
	create(t, conn, ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", Count: 2})
	if want, _, err := store.Incarnation(t.Context()); err != nil || one[string](t, conn, "SELECT snowkey_incarnation()") != want {
		t.Errorf("the generator's incarnation is not that of the store, %q, %v", want, err)
	}
	found := records()
	if len(found) != 2 || found[0].Worker != 1022 || found[1].Worker != 1023 {
		t.Fatalf("%+v", found)
	}
	for _, rec := range found {
		if !rec.OfGenerator() || rec.Status != driver.Kept || rec.FencingToken != rec.Start || time.Since(time.UnixMilli(rec.Start)) > time.Minute || rec.Fence != core.Twitter().End().UnixMilli() {
			t.Errorf("%+v", rec)
		}
	}
	last := one[int64](t, conn, next)
	var none *driver.NoWorkerIDError
	for _, freed := range []bool{false, true} {
		if freed {
			must(t, store.Free(t.Context(), "orders", 1022, found[0].FencingToken))
		}
		if c, err := store.Claim(t.Context(), request(core.Twitter(), 1022)); !errors.As(err, &none) {
			t.Errorf("freed %v: %+v, %v", freed, c, err)
		}
		if id := one[int64](t, conn, next); id <= last {
			t.Errorf("%d after %d", id, last)
		}
	}
	var layout *driver.LayoutError
	if _, err := store.Claim(t.Context(), request(core.Sonyflake(), -1)); !errors.As(err, &layout) {
		t.Errorf("another layout: %v", err)
	}
	id := one[int64](t, conn, next)
	run(t, conn, script(t)(ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", Count: 2}.Drop())...)
	parts, _ := core.Twitter().Decode(id)
	for _, rec := range records() {
		if rec.Status != driver.Released || rec.Fence <= parts.Time.UnixMilli() || rec.Fence > time.Now().Add(10*time.Second).UnixMilli() {
			t.Errorf("after the drop: %+v", rec)
		}
		c, err := store.Claim(t.Context(), request(core.Twitter(), rec.Worker))
		if err != nil || c.Start < rec.Fence || c.FencingToken <= rec.FencingToken {
			t.Errorf("%+v, %v", c, err)
		}
	}
	// What a program holds is not taken.
	refused(t, conn, "42883", "does not exist", next)
	create(t, conn, orders)
	if got := one[[]int64](t, conn, "SELECT workers FROM snowkey_generator"); !slices.Equal(got, []int64{1021}) {
		t.Errorf("%v", got)
	}
	run(t, conn, script(t)(orders.Drop())...)
	run(t, conn, script(t)(orders.Drop())...) // nothing to drop
}

// A script that cannot run changes nothing, and says why.
func TestRefusedCreate(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	store, err := sqlstore.New(openDB(t, dsn), sqlstore.Config{})
	must(t, err)
	if _, err := store.Claim(t.Context(), request(core.Twitter(), 5)); err != nil {
		t.Fatal(err)
	}
	failing := func(g ddl.Generator, want string) {
		t.Helper()
		statements := script(t)(g.Create())
		for _, statement := range statements[:len(statements)-1] {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				refused(t, conn, "P0001", want, statement)
				return
			}
		}
		refused(t, conn, notReady, want, statements[len(statements)-1])
	}
	failing(ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", Workers: []int64{5}}, `worker ID 5 of namespace "orders" is not free: it is held by "a test"`)
	refused(t, conn, "55000", "has no worker IDs", next)
	failing(ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", Layout: core.Sonyflake(), Prefix: "other_"}, `namespace "orders" has the layout`)
	failing(ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", MaxAhead: time.Minute, Prefix: "far_"}, `MaxAhead is 60000 ms, and namespace "orders" has a FenceWindow of 30000 ms`)
	create(t, conn, orders)
	create(t, conn, orders) // the same again
	failing(ddl.Generator{Dialect: ddl.Postgres, Namespace: "invoices"}, `is a generator of namespace "orders"`)
	refused(t, conn, "22023", `namespace "invoices": this generator has "orders"`, "SELECT snowkey_next('invoices')")
	refused(t, conn, "22023", "must be 1 to 64", "SELECT snowkey_claim('{1,1}')")
	refused(t, conn, "22023", "must be 1 to 64", "SELECT snowkey_claim('{1,9999}')")
	refused(t, conn, "22023", "must be 1 to 64", "SELECT snowkey_claim(how_many => 0)")

	run(t, conn, script(t)(orders.Drop())...)
	statements := script(t)(orders.Create())
	run(t, conn, "BEGIN")
	run(t, conn, statements...)
	refused(t, conn, notReady, "commit it before the first id", next)
	run(t, conn, "ROLLBACK")
}

// More worker IDs, or others, while sessions take ids all the time: no id comes twice, and each session's
// ids ascend. A claim that is rolled back changes nothing. With blocks of 32 slots, and of one.
func TestClaimAgain(t *testing.T) {
	for name, l := range map[string]core.Layout{"blocks": core.Twitter(), "one id a tick": {TimeBits: 45, WorkerBits: 10}} {
		t.Run(name, func(t *testing.T) {
			dsn := database(t)
			conn := connect(t, dsn)
			create(t, conn, ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", Layout: l})
			done := make(chan struct{})
			got := make([][]int64, 3)
			var sessions sync.WaitGroup
			for i := range got {
				session := connect(t, dsn)
				sessions.Go(func() {
					for {
						rows, _ := session.Query(t.Context(), "SELECT snowkey_next('orders') FROM generate_series(1, 20)")
						some, err := pgx.CollectRows(rows, pgx.RowTo[int64])
						if err != nil {
							t.Error(err)
							return
						}
						got[i] = append(got[i], some...)
						select {
						case <-done:
							return
						default:
						}
					}
				})
			}
			var mine []int64
			for _, c := range []struct{ statement, want string }{
				{"SELECT snowkey_claim(how_many => 3)", "[1021 1022 1023]"},
				{"SELECT snowkey_claim('{7}')", "[7]"},
				{"SELECT snowkey_claim('{7}')", "[7]"},
				{"SELECT snowkey_claim('{9,8,7}')", "[7 8 9]"},
				{"SELECT snowkey_claim()", "[1023]"},
			} {
				run(t, conn, "BEGIN", c.statement, "ROLLBACK")
				mine = append(mine, one[int64](t, conn, next))
				workers := one[[]int64](t, conn, c.statement)
				if got := fmt.Sprint(workers); got != c.want {
					t.Errorf("%s: %s, want %s", c.statement, got, c.want)
				}
				for _, id := range all(t, conn, "SELECT snowkey_next('orders') FROM generate_series(1, 100)") {
					if parts, err := l.Decode(id); err != nil || !slices.Contains(workers, parts.Datacenter<<l.WithDefaults().WorkerBits|parts.Worker) {
						t.Fatalf("%s: id %d is %+v, %v", c.statement, id, parts, err)
					}
					mine = append(mine, id)
				}
			}
			close(done)
			sessions.Wait()
			var found ids
			for _, of := range slices.Concat(got, [][]int64{mine}) {
				var last int64
				found.add(t, &last, of...)
			}
		})
	}
}

// What the generator's claim writes to a namespace that may have been forgotten is what a store writes.
func TestRecoversLikeAStore(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	store, err := sqlstore.New(openDB(t, dsn), sqlstore.Config{})
	must(t, err)
	create(t, conn, orders)
	near := func(a, b int64) bool { return max(a-b, b-a) < 5000 }
	for _, ahead := range []time.Duration{-time.Hour, 0, 20 * time.Second, 60 * time.Second, 110 * time.Second, 130 * time.Second, time.Hour} {
		run(t, conn, fmt.Sprintf("UPDATE snow_namespace SET incarnation = 'another', since = 0, seen = 0, floor = %d WHERE namespace = 'orders'", time.Now().Add(ahead).UnixMilli()))
		st, err := store.List(t.Context(), "orders")
		must(t, err)
		ch, refusal := request(core.Twitter(), -1).Decide(st)
		_, err = conn.Exec(t.Context(), "SELECT snowkey_recover('orders', $1)", st.Count)
		if refusal != nil || err != nil {
			if !errors.As(refusal, new(*driver.FloorError)) || err == nil || !strings.Contains(err.Error(), "put back to an earlier state again") {
				t.Errorf("%v ahead: %v, but the store: %v", ahead, err, refusal)
			}
			continue
		}
		now, err := store.List(t.Context(), "orders")
		must(t, err)
		got, want := now.Namespace, *ch.Namespace
		if got.Incarnation != want.Incarnation || got.Seen != want.Seen || !near(got.Since, want.Since) || !near(got.Floor, want.Floor) {
			t.Errorf("%v ahead: %+v, but the store: %+v", ahead, got, want)
		}
	}
}

// Records that a program makes while the generator's claim waits for it are not taken for lost ones, so the
// floor stays.
func TestRecordsMadeDuringAClaim(t *testing.T) {
	dsn := database(t)
	conn, program, claimer := connect(t, dsn), connect(t, dsn), connect(t, dsn)
	create(t, conn, orders)
	floor := func() int64 {
		return one[int64](t, conn, "SELECT floor FROM snow_namespace WHERE namespace = 'orders'")
	}
	before := floor()
	run(t, program, "BEGIN", "UPDATE snow_namespace SET seen = seen + 64 WHERE namespace = 'orders'",
		"INSERT INTO snow_lease SELECT 'orders', id, '', 0, 0, 0, '', 'unused' FROM generate_series(0, 63) id")
	claimed := make(chan error)
	go func() {
		_, err := claimer.Exec(t.Context(), "SELECT snowkey_claim(how_many => 2)")
		claimed <- err
	}()
	for one[int](t, conn, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	run(t, program, "COMMIT")
	must(t, <-claimed)
	if after := floor(); after != before {
		t.Errorf("the floor was %d and is %d", before, after)
	}
}
