package backfill

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// A run that another one has overtaken stops, and repeats no id: a row that came meanwhile has
// taken the next one.
func TestOvertaken(t *testing.T) {
	onThree(t, func(t *testing.T, db *engine) {
		at := db.at("2024-01-01 00:00:00")
		db.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, created_at {time})", "INSERT INTO orders VALUES (2, "+at+"), (3, "+at+"), (4, "+at+")")
		cfg := db.config(t)
		cfg.BatchSize = 1
		overtaking := cfg
		cfg.Progress = func(int64, int64) {
			db.run(t, "INSERT INTO orders (id, created_at) VALUES (1, "+at+")")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			overtaking.Progress = func(int64, int64) { cancel() }
			if _, err := backfill.Run(ctx, db.DB, overtaking); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		if _, err := backfill.Run(t.Context(), db.DB, cfg); !errors.Is(err, backfill.ErrRunning) {
			t.Error(err)
		}
		cfg.Progress = nil
		if _, err := backfill.Run(t.Context(), db.DB, cfg); err != nil {
			t.Error(err)
		}
		if n := db.one(t, "SELECT count(DISTINCT id_snowkey) FROM orders"); n != "4" {
			t.Errorf("%s ids", n)
		}
	})
}

// forgetful is a store that lists no records, as if other claims came right after each list.
type forgetful struct{ *memstore.Store }

func (forgetful) List(context.Context, string) ([]driver.Record, error) { return nil, nil }

// The fencing token alone shows whether a worker ID was leased before. When the worker ID is
// released, its fence is above all ids of the backfill.
func TestClaim(t *testing.T) {
	db := openSQLite(t)
	db.run(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY, created_at datetime)",
		"INSERT INTO orders (created_at) VALUES ('2024-01-01'), (strftime('%Y-%m-%d %H:%M:%f', 'now', '-0.01 seconds'))")
	store := memstore.New(memstore.Config{})
	for _, id := range []int64{1023, 1022} {
		lease, err := worker.Open(t.Context(), store, worker.Config{Preferred: &id, RequirePreferred: true})
		if err != nil {
			t.Fatal(err)
		}
		if id == 1022 { // the other one stays held
			if err := lease.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Cleanup(func() { _ = lease.Close(context.Background()) })
	}
	cfg := db.config(t)
	cfg.Store = forgetful{store}
	result, err := backfill.Run(t.Context(), db.DB, cfg)
	if err != nil || result.Worker != 1021 {
		t.Fatalf("%+v, %v", result, err)
	}
	last, err := strconv.ParseInt(db.one(t, "SELECT max(id_snowkey) FROM orders"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	p, err := core.Twitter().Decode(last)
	if err != nil {
		t.Fatal(err)
	}
	records, err := store.List(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		if fence := time.UnixMilli(rec.Fence); rec.Worker == 1021 && (rec.ClaimID != "" || !fence.After(p.Time)) {
			t.Errorf("the last id is of %v, the record is %+v", p.Time, rec)
		}
	}
}
