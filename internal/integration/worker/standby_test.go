package worker

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// What a promoted standby lacks is in folder forget.

func newPair(t *testing.T) (primary, standby *testserver.Server, db *sql.DB) {
	t.Helper()
	primary = testserver.New(t, testserver.KindPostgres, "-c", "fsync=on")
	standby = testserver.NewStandby(t, primary)
	return primary, standby, open(t, "pgx", primary.DSN)
}

// caughtUp waits until the standby has everything.
func caughtUp(t *testing.T, primary *sql.DB) {
	t.Helper()
	await(t, "standby that has everything", func() bool {
		var yes bool
		err := primary.QueryRow("SELECT state = 'streaming' AND replay_lsn >= pg_current_wal_flush_lsn() FROM pg_stat_replication WHERE application_name = 'standby'").Scan(&yes)
		return err == nil && yes
	})
}

// A standby is refused, before it has tables too, and the error says what to connect to.
func TestStandby(t *testing.T) {
	_, standby, db := newPair(t)
	for _, tables := range []string{"no tables", "tables"} {
		if tables == "tables" {
			must(t, acquire(t, engines.MustNew(sqlstore.New(db, sqlstore.Config{})), once))
			caughtUp(t, db)
		}
		for _, by := range []string{"pgx", "postgres"} {
			store := engines.MustNew(sqlstore.New(open(t, by, standby.DSN), sqlstore.Config{}))
			_, counted := store.Reserve(t.Context(), "starts", 1)
			for _, err := range []error{acquire(t, store, once), counted} {
				if err == nil || !strings.Contains(err.Error(), "is a standby") || !strings.Contains(err.Error(), "target_session_attrs=read-write") {
					t.Errorf("%s, %s: %v", tables, by, err)
				}
			}
		}
	}
}

// A replica of MySQL is refused, and the error says why, also if the driver calls its connections broken.
func TestReadOnlyServer(t *testing.T) {
	e := newMySQL(t, testserver.NewMariaDB(t).DSN)
	admin := e.open(t)
	mustExec(t, admin, "CREATE USER app IDENTIFIED BY 'x'", "GRANT ALL ON `"+e.mysql(t).DBName+"`.* TO app")
	for _, tables := range []string{"no tables", "tables"} {
		if tables == "tables" {
			must(t, acquire(t, e.store(t), once))
		}
		mustExec(t, admin, "SET GLOBAL read_only = 1")
		for _, reject := range []bool{false, true} {
			cfg := e.mysql(t)
			cfg.User, cfg.Passwd, cfg.RejectReadOnly = "app", "x", reject
			err := acquire(t, engines.MustNew(sqlstore.New(open(t, "mysql", cfg.FormatDSN()), sqlstore.Config{})), once)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "read-only", "read_only"), "read_only") {
				t.Errorf("%s, rejectReadOnly %v: %v", tables, reject, err)
			}
		}
		mustExec(t, admin, "SET GLOBAL read_only = 0")
	}
}

// A count is acknowledged when the synchronous standby has it, so none is given twice after a
// failover. lib/pq cancels a statement whose context is done. PostgreSQL then reports a commit that
// does not wait for the standby any more as a success.
func TestCountWaitsForStandby(t *testing.T) {
	primary, standby, db := newPair(t)
	stores := map[string]*sqlstore.Store{}
	for _, by := range []string{"pgx", "postgres"} {
		stores[by] = engines.MustNew(sqlstore.New(open(t, by, primary.DSN), sqlstore.Config{}))
		_, err := stores[by].Reserve(t.Context(), by, 1)
		must(t, err)
	}
	mustExec(t, db, "ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()")
	await(t, "synchronous standby", func() bool {
		var state string
		return db.QueryRow("SELECT sync_state FROM pg_stat_replication").Scan(&state) == nil && state == "sync"
	})
	caughtUp(t, db)
	must(t, standby.Kill())
	for by, store := range stores {
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			if n, err := store.Reserve(ctx, by, 1); err == nil {
				t.Errorf("%s: counted %d without the standby", by, n)
			}
			cancel()
		}
	}
	must(t, primary.Kill())
	must(t, standby.Start())
	promoted := open(t, "pgx", standby.DSN)
	await(t, "promotion", func() bool {
		var yes bool
		return promoted.QueryRow("SELECT pg_promote()").Scan(&yes) == nil && yes
	})
	var counter driver.Counter = engines.MustNew(sqlstore.New(promoted, sqlstore.Config{}))
	for by := range stores {
		if n, err := counter.Reserve(t.Context(), by, 1); err != nil || n != 2 {
			t.Errorf("%s: %d, %v", by, n, err)
		}
	}
}
