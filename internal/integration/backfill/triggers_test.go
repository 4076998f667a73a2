package backfill

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// touched gives a table a trigger that marks each row that is updated.
func (db *engine) touched(t *testing.T, table string) {
	t.Helper()
	switch db.Dialect {
	case ddl.Postgres:
		db.run(t, "CREATE OR REPLACE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.touched := 1; RETURN NEW; END'", "CREATE TRIGGER touch BEFORE UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION touch()",
			"CREATE TRIGGER other BEFORE UPDATE OF touched ON "+table+" FOR EACH ROW EXECUTE FUNCTION touch()",
			"CREATE TRIGGER another BEFORE UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION touch()", "ALTER TABLE "+table+" DISABLE TRIGGER another")
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

// Triggers that would fire are named, and nothing is written. With FireTriggers they fire.
func TestTriggers(t *testing.T) {
	onThree(t, func(t *testing.T, db *engine) {
		for _, table := range []string{"orders", "refs"} {
			t.Run(table, func(t *testing.T) {
				db.pair(t)
				db.touched(t, table)
				cfg := db.config(t)
				before := db.schema(t)
				_, err := backfill.Run(t.Context(), db.DB, cfg)
				if config := new(core.ConfigError); !errors.As(err, &config) ||
					!strings.Contains(err.Error(), "FireTriggers false: the UPDATE trigger touch of ") {
					t.Fatal(err)
				}
				if strings.Contains(err.Error(), "other") {
					t.Error("another trigger is refused")
				}
				if after := db.schema(t); after != before {
					t.Errorf("the schema is\n%s, was\n%s", after, before)
				}
				cfg.FireTriggers = true
				db.fill(t, cfg, 5, 5)
				db.Expect(t, "5", "SELECT COALESCE(sum(touched), 0) FROM "+table)
				db.drop(t, "refs", "orders")
			})
		}
	})
}

// A pause comes after each transaction, also of the last sweep, which finds references to rows that had ids.
func TestPause(t *testing.T) {
	db := openPostgres(t)
	db.pair(t)
	cfg := db.config(t)
	cfg.BatchSize, cfg.Pause = 2, 100*time.Millisecond
	for _, rows := range []int64{5, 0} {
		begun := time.Now()
		db.fill(t, cfg, rows, 5)
		if took := time.Since(begun); took < 3*cfg.Pause {
			t.Errorf("in %v", took)
		}
		db.run(t, "UPDATE refs SET order_id_snowkey = NULL")
	}
	// What was written before a pause that is interrupted counts.
	cfg.Pause = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for n := 0; n == 0 && db.QueryRowContext(ctx, "SELECT count(order_id_snowkey) FROM refs").Scan(&n) == nil; {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if result, err := backfill.Run(ctx, db.DB, cfg); !errors.Is(err, context.Canceled) || result.Referring != 2 {
		t.Errorf("%+v, %v", result, err)
	}
}
