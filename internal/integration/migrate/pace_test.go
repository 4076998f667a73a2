package migrate

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A limit of rows makes a fill as long as they take at that pace.
func TestRowsPerSecond(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.shop(t, 1000)
	cfg := db.config()
	cfg.RowsPerSecond = 400
	batches := 0
	cfg.Progress = func(s migrate.Step, done, _ int64) {
		if s.Name == migrate.StepFill && done > 0 {
			batches++
		}
	}
	begun := time.Now()
	result := db.migrate(t, cfg)
	if batches < 3 { // of a second each
		t.Errorf("%d batches", batches)
	}
	least := time.Duration(result.Rows) * time.Second / 400 // the last batch need not be waited for
	if took := time.Since(begun); result.Rows < 1000 || took < least-time.Second {
		t.Errorf("%d rows in %v, want at least %v", result.Rows, took, least)
	}
}

// A migration waits while a standby replays nothing, and for one that has gone.
func TestReplicaLag(t *testing.T) {
	t.Parallel()
	primary := testserver.New(t, testserver.KindPostgres)
	db := open(t, testserver.Database(t, "pgx", primary.DSN))
	cfg := db.config()
	cfg.MaxReplicaLag, cfg.RowsPerSecond = 500*time.Millisecond, 1000
	db.shop(t, 3000)
	refused := func(on *engine, want string) {
		t.Helper()
		var config *core.ConfigError
		if _, err := migrate.Inspect(t.Context(), on.DB, cfg); !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	refused(db, "MaxReplicaLag 500ms: no replica is connected to this server")
	standby := testserver.NewStandby(t, primary)
	replica := open(t, standby.DSN)
	until := func(query string) {
		t.Helper()
		for begun := time.Now(); db.one(t, query) != "true"; <-time.After(20 * time.Millisecond) {
			if time.Since(begun) > patience {
				t.Fatalf("never: %s", query)
			}
		}
	}
	replica.feedback(t, db)

	db.run(t, "CREATE ROLE app LOGIN", "ALTER TABLE orders OWNER TO app", "GRANT CREATE ON SCHEMA public TO app")
	u, err := url.Parse(db.dsn)
	must(t, err)
	u.User = url.User("app")
	app := open(t, u.String())
	refused(app, "MaxReplicaLag 500ms: this role cannot see the lag of replicas: GRANT pg_monitor to it")
	db.run(t, "GRANT pg_monitor TO app")
	if _, err := migrate.Inspect(t.Context(), app.DB, cfg); err != nil && strings.Contains(err.Error(), "lag") {
		t.Error(err)
	}

	replica.run(t, "SELECT pg_wal_replay_pause()")
	reasons := make(chan string, 100)
	cfg.Waiting = func(reason string) { reasons <- reason }
	ended := make(chan error, 1)
	go func() {
		_, err := migrate.Run(t.Context(), db.DB, cfg)
		ended <- err
	}()
	select {
	case reason := <-reasons:
		if !strings.HasPrefix(reason, "a replica is ") || !strings.HasSuffix(reason, " behind") {
			t.Error(reason)
		}
	case err := <-ended:
		t.Fatalf("it has not waited: %v", err)
	case <-time.After(patience):
		t.Fatal("it does not say that it waits")
	}
	const filled = "SELECT count(*) FROM orders WHERE id_migrate IS NOT NULL"
	before := db.one(t, filled)
	for range 50 {
		<-time.After(20 * time.Millisecond) // of which it fills none
		db.expect(t, before, filled)
	}
	if before == "3000" {
		t.Error("all rows were filled before it waited")
	}
	replica.run(t, "SELECT pg_wal_replay_resume()")
	must(t, <-ended)
	db.expect(t, "bigint", "SELECT data_type FROM information_schema.columns WHERE table_name = 'orders' AND column_name = 'id'")

	cfg.Undo = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := false
	cfg.Progress = func(s migrate.Step, _, _ int64) {
		if s.Name == migrate.StepIndex && !stopped {
			stopped = true
			if err := standby.Stop(); err != nil {
				t.Error(err)
			}
			until("SELECT count(*) = 0 FROM pg_stat_replication")
		}
	}
	gone := ""
	cfg.Waiting = func(reason string) {
		if strings.Contains(reason, "connected") {
			gone = reason
			cancel()
		}
	}
	if _, err := migrate.Run(ctx, db.DB, cfg); !errors.Is(err, context.Canceled) || gone != "0 of 1 replicas are connected" {
		t.Errorf("%v, %q", err, gone)
	}
}
