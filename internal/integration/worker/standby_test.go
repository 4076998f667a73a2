package worker

import (
	"context"
	"database/sql"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// pair is a primary whose commits are durable on its own disk, and a standby that has all of
// them at the start.
type pair struct {
	primary, standby *testserver.Server
	db               *sql.DB // of the primary
	away             bool    // the standby does not run
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{primary: testserver.New(t, testserver.KindPostgres, "-c", "fsync=on", "-c", "wal_level=logical")}
	p.standby = testserver.NewStandby(t, p.primary)
	p.db = open(t, "pgx", p.primary.DSN)
	p.caughtUp(t)
	return p
}

func (p *pair) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := p.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// synchronous makes commits wait for the standby.
func (p *pair) synchronous(t *testing.T) {
	t.Helper()
	p.exec(t, "ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()")
	await(t, "synchronous standby", func() bool { return p.shows(t, "SELECT sync_state = 'sync' FROM pg_stat_replication") })
}

func (p *pair) caughtUp(t *testing.T) {
	t.Helper()
	await(t, "standby that has everything", func() bool {
		return p.shows(t, "SELECT state = 'streaming' AND replay_lsn >= pg_current_wal_flush_lsn() FROM pg_stat_replication WHERE application_name = 'standby'")
	})
}

func (p *pair) shows(t *testing.T, query string) (yes bool) {
	t.Helper()
	err := p.db.QueryRowContext(t.Context(), query).Scan(&yes)
	return err == nil && yes
}

// behind stops the standby: it misses what the primary commits from now on.
func (p *pair) behind(t *testing.T) {
	t.Helper()
	p.caughtUp(t)
	must(t, p.standby.Kill())
	p.away = true
}

// back starts it again.
func (p *pair) back(t *testing.T) {
	t.Helper()
	must(t, p.standby.Start())
	p.away = false
}

// failover stops the primary, and promotes the standby with the data that it has.
func (p *pair) failover(t *testing.T) *sql.DB {
	t.Helper()
	must(t, p.primary.Kill())
	if p.away {
		p.back(t)
	}
	db := open(t, "pgx", p.standby.DSN)
	await(t, "promotion", func() bool {
		var promoted bool
		err := db.QueryRowContext(t.Context(), "SELECT pg_promote()").Scan(&promoted)
		return err == nil && promoted
	})
	return db
}

// A claim whose answer was lost is granted again only when the standby has it. The primary
// shows the row earlier, after the wait for the standby was cancelled. If that were enough, the
// promoted standby would grant the worker ID to another holder for the same time.
//
// lib/pq cancels a statement whose context is done. PostgreSQL then reports a commit that does not
// wait for the standby any more as a success.
func TestClaimAgainWaitsForStandby(t *testing.T) {
	for _, driver := range []string{"pgx", "postgres"} {
		t.Run(driver, func(t *testing.T) { testClaimAgainWaitsForStandby(t, driver) })
	}
}

func testClaimAgainWaitsForStandby(t *testing.T, by string) {
	p := newPair(t)
	store := mustNew(sqlstore.New(open(t, by, p.primary.DSN), sqlstore.Config{}))
	if _, err := store.List(t.Context(), "default"); err != nil { // makes the tables
		t.Fatal(err)
	}
	p.synchronous(t)
	p.behind(t)
	r := driver.Request{
		Namespace: "default", Layout: "x", WorkerIDs: 8, Preferred: 7, Exclude: -1, ClaimID: "first", Owner: "test",
		Now: time.Now().UnixMilli(), FenceWindow: 30_000, TTL: 40_000, MaxSkew: 60_000, MaxLead: 60_000,
	}
	claim := func(limit time.Duration) (driver.Claim, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return store.Claim(ctx, r)
	}
	held := func() bool {
		rows, err := store.List(t.Context(), r.Namespace)
		return err == nil && slices.ContainsFunc(rows, func(row driver.Record) bool { return row.ClaimID == r.ClaimID })
	}
	await(t, "row of a claim that was not answered", func() bool { // the space is new, and the wait for each of its rows is cancelled
		if c, err := claim(500 * time.Millisecond); err == nil {
			t.Fatalf("claimed without the standby: %+v", c)
		}
		return held()
	})
	if c, err := claim(500 * time.Millisecond); err == nil {
		t.Fatalf("claimed again without the standby: %+v", c)
	}
	// A lease claims again by itself.
	lease, err := worker.Open(t.Context(), store, worker.Config{Namespace: "leased", Preferred: ref(int64(7)), Timeout: 500 * time.Millisecond, ClaimWait: 4 * time.Second})
	if err == nil {
		other, err := worker.Open(t.Context(), mustNew(sqlstore.New(p.failover(t), sqlstore.Config{})), worker.Config{Namespace: "leased", Preferred: ref(int64(7))})
		must(t, err)
		t.Fatalf("number %d is leased without the standby, and number %d after it was promoted", lease.Worker(), other.Worker())
	}
	p.back(t)
	first, err := claim(patience)
	if err != nil || first.Worker != 7 || first.FencingToken != 1 || first.Fence != r.Now+r.FenceWindow {
		t.Fatalf("%+v, %v", first, err)
	}
	p.behind(t) // a renewal needs the standby too
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := store.Renew(ctx, driver.Renewal{Namespace: r.Namespace, Worker: 7, FencingToken: 1, ClaimID: r.ClaimID, Fence: first.Fence + 1, TTL: r.TTL}); err == nil {
		t.Error("renewed without the standby")
	}
	store = mustNew(sqlstore.New(p.failover(t), sqlstore.Config{}))
	if c, err := claim(patience); err != nil || c != first {
		t.Fatalf("after the failover: %+v, %v, and before it %+v", c, err, first)
	}
}

// A promoted asynchronous standby lacks the last acknowledged writes, so ids are issued twice.
// The store warns of it before, also users who may see only that there is a standby.
func TestAsynchronousStandby(t *testing.T) {
	p := newPair(t)
	p.exec(t, "CREATE ROLE app LOGIN", "GRANT ALL ON SCHEMA public TO app")
	u, err := url.Parse(p.primary.DSN)
	must(t, err)
	u.User = url.User("app")
	store := mustNew(sqlstore.New(open(t, "pgx", u.String()), sqlstore.Config{}))
	cfg := long
	cfg.Preferred = ref(int64(7))
	first, err := worker.Open(t.Context(), store, cfg)
	must(t, err)
	warned(t, mustNew(sqlstore.New(p.db, sqlstore.Config{})), `an asynchronous standby "standby": a standby that is promoted may lack acknowledged writes`)
	warned(t, store, `a WAL receiver "standby", of which this role may not see more`)
	must(t, first.Close(t.Context()))

	p.behind(t)
	if first, err = worker.Open(t.Context(), store, cfg); err != nil {
		t.Fatal(err)
	}
	other, err := worker.Open(t.Context(), mustNew(sqlstore.New(p.failover(t), sqlstore.Config{})), cfg)
	must(t, err)
	// Both issue ids with one worker ID from now on, up to their fences.
	_, one := first.Next(t.Context())
	_, two := other.Next(t.Context())
	if other.Worker() != first.Worker() || one != nil || two != nil {
		t.Errorf("numbers %d and %d, %v, %v: the standby has lost nothing", first.Worker(), other.Worker(), one, two)
	}
}

// warned checks that a store has exactly one warning, with this text, or none.
func warned(t *testing.T, store *sqlstore.Store, says string) {
	t.Helper()
	warnings, err := store.Warnings(t.Context())
	switch {
	case err != nil:
		t.Error(err)
	case says == "" && len(warnings) > 0:
		t.Errorf("warnings: %q", warnings)
	case says != "" && (len(warnings) != 1 || !strings.Contains(warnings[0], says) || !strings.Contains(warnings[0], "; set ")):
		t.Errorf("warnings %q, want one that says %q", warnings, says)
	}
}

// Which settings and followers of a primary are refused, reported as a warning, or ignored.
func TestStandbyWarnings(t *testing.T) {
	p := newPair(t)
	store := mustNew(sqlstore.New(p.db, sqlstore.Config{}))
	warned(t, store, `an asynchronous standby "standby"`)
	warned(t, mustNew(sqlstore.New(p.db, sqlstore.Config{AllowDataLoss: true})), "")

	p.exec(t, "CREATE PUBLICATION everything FOR ALL TABLES")
	subscribe(t, p)
	p.exec(t, "SELECT pg_create_physical_replication_slot('elsewhere', true)")
	p.behind(t)
	await(t, "end of the standby's connection", func() bool {
		return p.shows(t, "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE application_name = 'standby')")
	})
	warned(t, store, `there is a replication slot "elsewhere" for a standby that is not connected:`)
	p.exec(t, "SELECT pg_drop_replication_slot('elsewhere')")
	warned(t, store, "") // a subscriber is no standby

	p.back(t)
	p.synchronous(t)
	warned(t, store, "")
	p.exec(t, "ALTER SYSTEM SET synchronous_commit = 'remote_write'", "SELECT pg_reload_conf()")
	await(t, "setting", func() bool { return p.shows(t, "SELECT current_setting('synchronous_commit') = 'remote_write'") })
	warned(t, store, "synchronous_commit = remote_write")
}

// subscribe connects as a subscriber of logical replication does.
func subscribe(t *testing.T, p *pair) {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), p.primary.DSN+"&replication=database")
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	must(t, conn.Exec(t.Context(), "CREATE_REPLICATION_SLOT subscriber LOGICAL pgoutput").Close())
	conn.Frontend().SendQuery(&pgproto3.Query{String: "START_REPLICATION SLOT subscriber LOGICAL 0/0 (proto_version '1', publication_names 'everything')"})
	must(t, conn.Frontend().Flush())
	await(t, "subscriber", func() bool {
		return p.shows(t, "SELECT EXISTS (SELECT 1 FROM pg_stat_replication r JOIN pg_replication_slots s ON s.active_pid = r.pid WHERE s.slot_name = 'subscriber' AND r.state = 'streaming')")
	})
}
