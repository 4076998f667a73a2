package migrate

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A serial key gets its DEFAULT from ddl.Generator, and back, and again. Meanwhile old programs
// insert rows without a key, and new ones insert ids of a lease of the same namespace.
func TestDefaultFromGenerator(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id bigserial PRIMARY KEY, note text NOT NULL)", fmt.Sprintf("INSERT INTO orders (note) SELECT 'first' FROM generate_series(1, %d)", rows(t)))
	script, err := ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders"}.Create()
	if err != nil {
		t.Fatal(err)
	}
	db.run(t, script...)
	gen, err := sqlstore.Open(t.Context(), db.DB, sqlstore.Config{AllowDataLoss: true, Lease: worker.Config{Namespace: "orders"}})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())

	ctx, stop := context.WithCancel(t.Context())
	var programs sync.WaitGroup
	defer programs.Wait()
	defer stop()
	var mu sync.Mutex
	given := map[string]map[int64]bool{"sequence": {}, "default": {}, "lease": {}, "elsewhere": {}}
	count := func(of string) int {
		mu.Lock()
		defer mu.Unlock()
		return len(given[of])
	}
	program := func(insert func() (string, int64, error)) {
		pace := time.NewTicker(2 * time.Millisecond)
		defer pace.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
			of, id, err := insert()
			if err != nil { // nothing else ends this program: its statements have no context that ends
				t.Errorf("a program: %v", err)
				return
			}
			mu.Lock()
			for _, ids := range given {
				if ids[id] {
					t.Errorf("%d twice, the second time from the %s", id, of)
				}
			}
			given[of][id] = true
			mu.Unlock()
		}
	}
	for range 2 {
		programs.Go(func() {
			program(func() (of string, id int64, err error) {
				err = db.QueryRowContext(context.Background(), "INSERT INTO orders (note) VALUES ('old') RETURNING id").Scan(&id)
				if of = "sequence"; id >= 1<<40 {
					of = "default"
				}
				return of, id, err
			})
		})
		programs.Go(func() {
			program(func() (string, int64, error) {
				id, err := gen.Next(context.Background())
				if err == nil {
					_, err = db.ExecContext(context.Background(), "INSERT INTO orders (id, note) VALUES ($1, 'new')", id)
				}
				return "lease", id, err
			})
		})
	}
	more := func(of ...string) {
		t.Helper()
		for _, of := range of {
			begun, from := time.Now(), count(of)
			for ; count(of) < from+50; time.Sleep(time.Millisecond) {
				if t.Failed() || time.Since(begun) > patience {
					t.Fatalf("%d keys from the %s", count(of), of)
				}
			}
		}
	}
	// Another table's rows leave the generator a few milliseconds behind the leases.
	programs.Go(func() {
		program(func() (of string, id int64, err error) {
			err = db.QueryRowContext(context.Background(), "SELECT snowkey_next('orders')").Scan(&id)
			return "elsewhere", id, err
		})
	})
	cfg := db.config(migrate.Default)
	cfg.Generator = "snowkey_next('orders')"
	more("sequence", "lease")
	for range 3 {
		cfg.Undo = false
		db.migrate(t, cfg)
		more("default", "lease")
		cfg.Undo = true
		db.migrate(t, cfg)
		more("sequence", "lease")
	}
	cfg.Undo, cfg.Finish = false, true
	db.migrate(t, cfg)
	more("default", "lease")
	stop()
	programs.Wait()
	total := rows(t)
	for of, ids := range given {
		t.Logf("%d keys from the %s", len(ids), of)
		if of != "elsewhere" {
			total += len(ids)
		}
	}
	db.expect(t, fmt.Sprint(total), "SELECT count(*) FROM orders", "SELECT count(DISTINCT id) FROM orders")
}
