package migrate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// wider is a layout whose ids are greater than Twitter's.
func wider() core.Layout {
	return core.Layout{Epoch: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), TimeBits: 41, WorkerBits: 12, SequenceBits: 10}
}

// The keys of a table get another layout while programs insert rows without a key. Ids that would
// not be above all keys are refused, also those of the way back.
func TestBetweenLayouts(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, note text)")
	low := wider()
	low.Epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, g := range []ddl.Generator{
		{Namespace: "orders"}, {Namespace: "low", Prefix: "low_", Layout: low}, {Namespace: "wider", Prefix: "wider_", Layout: wider()},
	} {
		g.Dialect = ddl.Postgres
		script, err := g.Create()
		if err != nil {
			t.Fatal(err)
		}
		db.run(t, script...)
	}
	script, err := ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders"}.SetDefault("id", "orders")
	if err != nil {
		t.Fatal(err)
	}
	db.run(t, script...)
	db.run(t, fmt.Sprintf("INSERT INTO orders (note) SELECT 'first' FROM generate_series(1, %d)", rows(t)))

	ctx, stop := context.WithCancel(t.Context())
	var programs sync.WaitGroup
	defer programs.Wait()
	defer stop()
	var mu sync.Mutex
	var given []int64
	var longest time.Duration
	for range 3 {
		programs.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				var id int64
				begun := time.Now()
				err := db.QueryRowContext(context.Background(), "INSERT INTO orders (note) VALUES ('program') RETURNING id").Scan(&id)
				if err != nil {
					t.Errorf("a program: %v", err)
					return
				}
				mu.Lock()
				given, longest = append(given, id), max(longest, time.Since(begun))
				mu.Unlock()
				time.Sleep(time.Millisecond)
			}
		})
	}
	more := func() {
		t.Helper()
		count := func() int { mu.Lock(); defer mu.Unlock(); return len(given) }
		for begun, from := time.Now(), count(); count() < from+100; time.Sleep(time.Millisecond) {
			if t.Failed() || time.Since(begun) > patience {
				t.Fatalf("%d keys", count())
			}
		}
	}
	to := func(generator string) (migrate.Result, error) {
		cfg := db.config(migrate.Default)
		cfg.Generator = generator
		return migrate.Run(t.Context(), db.DB, cfg)
	}
	more()
	if _, err := to("low_next('low')"); err == nil || !strings.Contains(err.Error(), "not above all keys") {
		t.Errorf("to smaller ids: %v", err)
	}
	more()
	for i, want := range []int{0, 1, 0} { // the generator that it has; another; that one again
		result, err := to([]string{"snowkey_next('orders')", "wider_next('wider')", "wider_next('wider')"}[i])
		if err != nil || len(result.Steps) != want || len(result.Plan.Left()) != 0 {
			t.Fatalf("%d: %d steps, left %s, %v", i, len(result.Steps), names(result.Plan.Left()), err)
		}
		more()
	}
	if _, err := to("snowkey_next('orders')"); err == nil || !strings.Contains(err.Error(), "not above all keys") {
		t.Errorf("back: %v", err)
	}
	cfg := db.config(migrate.Default)
	cfg.Generator, cfg.Undo = "wider_next('wider')", true
	if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "there is no way back") {
		t.Errorf("undo: %v", err)
	}
	more()
	stop()
	programs.Wait()
	t.Logf("%d keys beside %d rows; the longest statement took %v", len(given), rows(t), longest)
	if longest > 4*time.Second { // the two timeouts of the plan, 2.3 s, and a busy machine
		t.Errorf("a statement took %v", longest)
	}
	db.expect(t, fmt.Sprint(rows(t)+len(given)), "SELECT count(*) FROM orders", "SELECT count(DISTINCT id) FROM orders")
	l, now := wider(), time.Now()
	after := 0
	for _, id := range given {
		if p, err := l.Decode(id); err == nil && now.Sub(p.Time).Abs() < time.Hour {
			after++
		}
	}
	if after < 300 || after > len(given)-300 {
		t.Errorf("%d of %d keys have the new layout", after, len(given))
	}
}

// A key from a sequence gets a generator, then another one, and its sequence again.
func TestBetweenGenerators(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id bigserial PRIMARY KEY, note text)", "INSERT INTO orders (note) VALUES ('first')")
	for _, g := range []ddl.Generator{{Namespace: "orders"}, {Namespace: "wider", Prefix: "wider_", Layout: wider()}} {
		g.Dialect = ddl.Postgres
		script, err := g.Create()
		if err != nil {
			t.Fatal(err)
		}
		db.run(t, script...)
	}
	cfg := db.config(migrate.Default)
	last := "0"
	for _, generator := range []string{"snowkey_next('orders')", "wider_next('wider')"} {
		cfg.Generator = generator
		db.migrate(t, cfg)
		db.run(t, "INSERT INTO orders (note) VALUES ('"+generator[:5]+"')")
		id := db.one(t, "SELECT max(id) FROM orders WHERE note = '"+generator[:5]+"'")
		if len(id) < 18 || id <= last {
			t.Errorf("%s: the id %s after %s", generator, id, last)
		}
		last = id
	}
	cfg.Undo = true
	db.migrate(t, cfg)
	db.run(t, "INSERT INTO orders (note) VALUES ('back')")
	if id := db.one(t, "SELECT id FROM orders WHERE note = 'back'"); len(id) > 8 {
		t.Errorf("back: the key %s", id)
	}
}
