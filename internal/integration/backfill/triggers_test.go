package backfill

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// touched gives a table a trigger that marks each row that is updated.
func (db *engine) touched(t *testing.T, table string) {
	t.Helper()
	switch db.dialect {
	case ddl.Postgres:
		db.run(t, "CREATE OR REPLACE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.touched := 1; RETURN NEW; END'", "CREATE TRIGGER touch BEFORE UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION touch()")
	case ddl.MySQL:
		db.run(t, "CREATE TRIGGER touch BEFORE UPDATE ON "+table+" FOR EACH ROW SET NEW.touched = 1")
	default:
		db.run(t, "CREATE TRIGGER touch AFTER UPDATE ON "+table+" WHEN NEW.touched = 0 BEGIN UPDATE "+table+" SET touched = 1 WHERE rowid = NEW.rowid; END",
			"CREATE TRIGGER other AFTER INSERT ON "+table+" BEGIN UPDATE "+table+" SET touched = touched; END")
	}
}

func (db *engine) pair(t *testing.T) {
	t.Helper()
	db.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, created_at {time}, touched int DEFAULT 0)", "CREATE TABLE refs (order_id bigint, touched int DEFAULT 0, FOREIGN KEY (order_id) REFERENCES orders (id))",
		"CREATE INDEX refs_order_id ON refs (order_id)")
	for i := range 5 {
		db.run(t, fmt.Sprintf("INSERT INTO orders (id, created_at) VALUES (%d, %s)", i, db.at("2024-01-01 00:00:00")), fmt.Sprintf("INSERT INTO refs (order_id) VALUES (%d)", i))
	}
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	var config *core.ConfigError
	if !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// Triggers stay silent in PostgreSQL. Elsewhere they are named, and nothing is written.
func TestTriggers(t *testing.T) {
	onThree(t, func(t *testing.T, db *engine) {
		for _, table := range []string{"orders", "refs"} {
			t.Run(table, func(t *testing.T) {
				db.pair(t)
				db.touched(t, table)
				cfg := db.config(t)
				sum := "SELECT COALESCE(sum(touched), 0) FROM " + table
				if db.dialect == ddl.Postgres {
					if result, err := backfill.Run(t.Context(), db.DB, cfg); err != nil || result.Rows != 5 || result.Referring != 5 {
						t.Errorf("%+v, %v", result, err)
					}
					if n := db.one(t, sum); n != "0" {
						t.Errorf("%s rows were touched", n)
					}
					db.run(t, "UPDATE orders SET id_snowkey = NULL", "UPDATE refs SET order_id_snowkey = NULL", "UPDATE "+table+" SET touched = 0")
				} else {
					_, err := backfill.Run(t.Context(), db.DB, cfg)
					refused(t, err, "FireTriggers false: the UPDATE trigger touch of ")
					if strings.Contains(err.Error(), "other") {
						t.Error("an INSERT trigger is refused")
					}
				}
				cfg.FireTriggers = true
				if result, err := backfill.Run(t.Context(), db.DB, cfg); err != nil || result.Rows != 5 {
					t.Errorf("%+v, %v", result, err)
				}
				if n := db.one(t, sum); n != "5" {
					t.Errorf("%s rows were touched", n)
				}
				db.drop(t, "refs", "orders")
			})
		}
	})
}

// A foreign key on a column that is filled would not be checked while triggers are silent.
func TestUncheckedConstraint(t *testing.T) {
	db := openPostgres(t)
	db.pair(t)
	db.touched(t, "orders")
	db.run(t, "ALTER TABLE orders ADD id_snowkey bigint UNIQUE", "ALTER TABLE refs ADD order_id_snowkey bigint CONSTRAINT refs_new REFERENCES orders (id_snowkey)")
	_, err := backfill.Run(t.Context(), db.DB, db.config(t))
	refused(t, err, "nothing checks the constraint refs_new of public.orders, refs_new of public.refs")
	db.run(t, "ALTER TABLE orders DISABLE TRIGGER touch")
	if result, err := backfill.Run(t.Context(), db.DB, db.config(t)); err != nil || result.Rows != 5 {
		t.Errorf("%+v, %v", result, err)
	}
}

// A limit of rows makes a backfill as long as they take at that pace. What has no limit is refused.
func TestRowsPerSecond(t *testing.T) {
	onThree(t, func(t *testing.T, db *engine) {
		db.pair(t)
		cfg := db.config(t)
		cfg.RowsPerSecond = 3
		begun := time.Now()
		result, err := backfill.Run(t.Context(), db.DB, cfg)
		if took := time.Since(begun); err != nil || result.Rows != 5 || result.Referring != 5 || took < 2*time.Second { // after the first batch, and 3 + 3 rows
			t.Errorf("%+v, %v in %v", result, err, took)
		}
		// The last sweep, which finds references to rows that had ids before.
		db.run(t, "UPDATE refs SET order_id_snowkey = NULL")
		cfg.RowsPerSecond, begun = 2, time.Now()
		result, err = backfill.Run(t.Context(), db.DB, cfg)
		if took := time.Since(begun); err != nil || result.Referring != 5 || took < 2*time.Second { // after 2 + 2 rows
			t.Errorf("the last sweep: %+v, %v in %v", result, err, took)
		}
		db.run(t, "CREATE TABLE more (order_id bigint)")
		cfg.References = []string{"more.order_id"}
		_, err = backfill.Run(t.Context(), db.DB, cfg)
		refused(t, err, "more.order_id has no index, so its rows are written in one statement")
		cfg.References, cfg.RowsPerSecond, cfg.MaxReplicaLag = nil, -1, time.Second
		_, err = backfill.Run(t.Context(), db.DB, cfg)
		refused(t, err, "RowsPerSecond -1: must be at least 1, or 0 for no limit")
		if db.dialect != ddl.Postgres {
			refused(t, err, "MaxReplicaLag 1s: must be 0: only the lag of replicas of PostgreSQL can be limited")
		}
		cfg.RowsPerSecond, cfg.MaxReplicaLag = 0, time.Millisecond
		_, err = backfill.Run(t.Context(), db.DB, cfg)
		refused(t, err, "MaxReplicaLag 1ms: must be at least 100ms")
	})
}

// A backfill needs a standby whose lag it can see, and waits while that replays nothing.
func TestReplicaLag(t *testing.T) {
	primary := testserver.New(t, testserver.KindPostgres)
	db := open(t, ddl.Postgres, "pgx", testserver.Database(t, "pgx", primary.DSN))
	db.pair(t)
	cfg := db.config(t)
	cfg.BatchSize, cfg.RowsPerSecond, cfg.MaxReplicaLag = 1, 2, 300*time.Millisecond
	_, err := backfill.Run(t.Context(), db.DB, cfg)
	refused(t, err, "MaxReplicaLag 300ms: no replica is connected to this server")

	standby := testserver.NewStandby(t, primary)
	replica := open(t, ddl.Postgres, "pgx", standby.DSN)
	for begun := time.Now(); db.one(t, "SELECT count(replay_lsn) FROM pg_stat_replication WHERE state = 'streaming'") != "1"; <-time.After(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("the standby does not come")
		}
	}
	replica.run(t, "SELECT pg_wal_replay_pause()")
	waited := ""
	cfg.Waiting = func(reason string) {
		waited += reason + ", " + db.one(t, "SELECT count(*) FROM orders WHERE id_snowkey IS NULL") + " left; "
		replica.run(t, "SELECT pg_wal_replay_resume()")
	}
	result, err := backfill.Run(t.Context(), db.DB, cfg)
	if err != nil || result.Rows != 5 || !strings.HasPrefix(waited, "a replica is ") || strings.Contains(waited, " 0 left") {
		t.Errorf("%+v, %v, %q", result, err, waited)
	}
}
