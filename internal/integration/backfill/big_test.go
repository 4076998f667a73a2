package backfill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// bigRows is how many rows the table has.
func (db *engine) bigRows() int {
	switch {
	case db.Dialect == ddl.SQLite:
		return 2000 // SQLite in Go is slow under the race detector
	case os.Getenv("SNOWKEY_TEST_FULL") == "1":
		return 100_000
	}
	return 20_000
}

// big makes a table with bursts of equal times, a reference to itself, and lines that
// refer to it with and without an index.
func (db *engine) big(t *testing.T) {
	t.Helper()
	db.run(t,
		"CREATE TABLE orders (id {key}, parent_id bigint, created_at {time} NOT NULL, FOREIGN KEY (parent_id) REFERENCES orders (id))",
		"CREATE TABLE order_lines (id {key}, order_id bigint NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id))",
		"CREATE TABLE order_notes (id {key}, order_key bigint)")
	if db.Dialect != ddl.MySQL {
		db.run(t, "CREATE INDEX order_lines_order_id ON order_lines (order_id)")
	}
	// Two thirds of the rows are spread over a year, in another order than their keys. The others
	// are 10,000 to a moment, more than a tick has.
	db.run(t, "CREATE TABLE digits (d bigint)", "INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
	numbers := fmt.Sprintf(" FROM (SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d AS i FROM digits a, digits b, digits c, digits d, digits e) n WHERE i <= %d", db.bigRows())
	made := map[ddl.Dialect]string{
		ddl.Postgres: "timestamptz '2024-01-01 00:00:00Z' + CASE WHEN i % 3 = 0 THEN 1000000 ELSE (i * 7919 % 31536000) END * interval '1 second'",
		ddl.MySQL:    "TIMESTAMPADD(SECOND, CASE WHEN i % 3 = 0 THEN 1000000 ELSE (i * 7919 % 31536000) END, '2024-01-01')",
		ddl.SQLite:   "datetime(1704067200 + CASE WHEN i % 3 = 0 THEN 1000000 ELSE (i * 7919 % 31536000) END, 'unixepoch')",
	}[db.Dialect]
	db.run(t,
		"INSERT INTO orders (id, created_at) SELECT i, "+made+numbers,
		"UPDATE orders SET parent_id = id / 2 WHERE id % 10 = 0",
		"INSERT INTO order_lines (order_id) SELECT i"+numbers,
		"INSERT INTO order_lines (order_id) SELECT i"+numbers+" AND i % 2 = 0",
		"INSERT INTO order_notes (order_key) SELECT CASE WHEN i % 10 = 0 THEN NULL ELSE i END"+numbers)
}

// A backfill is interrupted twice while a program writes rows with ids of a lease; TestEveryStep breaks it
// anywhere. When it has ended, all ids differ, and those of the past sort as the times of their rows.
func TestBig(t *testing.T) {
	onThree(t, func(t *testing.T, db *engine) {
		db.big(t)
		cfg := db.config(t)
		cfg.References, cfg.BatchSize = []string{"order_notes.order_key"}, db.bigRows()/40
		db.run(t, "ALTER TABLE orders ADD COLUMN id_snowkey bigint", "CREATE UNIQUE INDEX orders_id_snowkey ON orders (id_snowkey)")

		gen, err := sqlstore.Open(t.Context(), db.DB, worker.Config{})
		must(t, err)
		defer gen.Close(context.Background())
		var live sync.WaitGroup
		written := 0
		turns := make(chan struct{}, 1) // a few rows after each transaction of the backfill, while the next one runs
		progress := func() {
			select {
			case turns <- struct{}{}:
			default:
			}
		}
		live.Go(func() {
			for range turns {
				for range 5 {
					id, err := gen.Next(t.Context())
					if err == nil {
						now := "'" + time.Now().UTC().Format("2006-01-02 15:04:05.000000") + "'"
						err = db.Try(fmt.Sprintf("INSERT INTO orders (id, created_at, id_snowkey) VALUES (%d, %s, %d)", db.bigRows()+1+written, now, id))
					}
					if err != nil {
						t.Error(err)
						continue
					}
					written++
				}
			}
		})
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			cfg.Progress = func(done, _ int64) {
				if progress(); done >= int64(db.bigRows()/4) {
					cancel()
				}
			}
			if _, err := backfill.Run(ctx, db.DB, cfg); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			cancel()
		}
		cfg.Progress = func(int64, int64) { progress() }
		result, err := backfill.Run(t.Context(), db.DB, cfg)
		close(turns)
		live.Wait()
		must(t, err)
		if result.Rows == 0 || result.Rows > int64(db.bigRows()/2) || result.Worker != 1021 || result.Worker == gen.Worker() {
			t.Errorf("%+v", result)
		}
		if written < 5 {
			t.Error("the program has written nothing")
		}
		db.checkBig(t)
		if again := db.fill(t, cfg, 0, 0); again.Worker != -1 {
			t.Errorf("again: %+v", again)
		}
	})
}

func (db *engine) checkBig(t *testing.T) {
	t.Helper()
	seconds := map[ddl.Dialect]string{
		ddl.Postgres: "CAST(EXTRACT(EPOCH FROM created_at) AS bigint)", ddl.MySQL: "TIMESTAMPDIFF(SECOND, '1970-01-01', created_at)", ddl.SQLite: "strftime('%s', created_at)",
	}[db.Dialect]
	rows := db.Read(t, fmt.Sprintf("SELECT id_snowkey, %s FROM orders WHERE id <= %d ORDER BY created_at, id_snowkey", seconds, db.bigRows()))
	most := time.Duration(db.bigRows()/3/4096+1) * time.Millisecond // for the rows of one moment
	var ids []int64
	for _, r := range rows {
		id, err := strconv.ParseInt(r[0], 10, 64)
		must(t, err)
		p, err := core.Twitter().Decode(id)
		if err != nil || p.Datacenter<<5|p.Worker < 1021 { // three runs
			t.Fatalf("%+v, %v", p, err)
		}
		made, _ := strconv.ParseInt(r[1], 10, 64)
		if off := p.Time.Sub(time.Unix(made, 0)); off < 0 || off > most {
			t.Fatalf("the id %d is %v off", id, off)
		}
		ids = append(ids, id)
	}
	if len(ids) != db.bigRows() || !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != db.bigRows() {
		t.Errorf("%d ids of the past, sorted: %v", len(ids), slices.IsSorted(ids))
	}
	wrong := func(table, reference string) string {
		return fmt.Sprintf("SELECT count(*) FROM %[1]s c LEFT JOIN orders o ON o.id = c.%[2]s WHERE COALESCE(c.%[2]s_snowkey, 0) <> COALESCE(o.id_snowkey, 0)", table, reference)
	}
	db.Expect(t, "0", "SELECT count(*) FROM orders WHERE id_snowkey IS NULL", "SELECT count(id_snowkey) - count(DISTINCT id_snowkey) FROM orders",
		wrong("order_lines", "order_id"), wrong("orders", "parent_id"), wrong("order_notes", "order_key"))
}
