package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// pooledVar is for how long the holders of TestPgBouncer renew, 4s if it is not set: "10m" is the
// proof that they do for ever.
const pooledVar = "SNOWKEY_TEST_POOLED"

// An opener opens a generator over its own pool.
type opener func(worker.Config) (*worker.Generator, error)

// A pooled is what a program opens a worker ID with. What it opens is closed with the test.
type pooled struct {
	name   string
	params string // of the DSN
	open   func(t *testing.T, dsn string) opener
}

func pooledClients() []pooled {
	clients := []pooled{
		{"pgx", "", pooledSQL("pgx")},
		{"pq", "", pooledSQL("postgres")},
		{"pq binary_parameters", "&binary_parameters=yes", pooledSQL("postgres")},
		{"pgxpool", "", pooledPgx},
		{"gorm", "", pooledGORM},
	}
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		clients = append(clients, pooled{"pgx " + mode, "&default_query_exec_mode=" + mode, pooledSQL("pgx")})
	}
	return clients
}

func pooledSQL(driver string) func(*testing.T, string) opener {
	return func(t *testing.T, dsn string) opener {
		db := open(t, driver, dsn)
		return func(lease worker.Config) (*worker.Generator, error) {
			return sqlstore.Open(t.Context(), db, lease)
		}
	}
}

func pooledPgx(t *testing.T, dsn string) opener {
	pool, err := pgxpool.New(t.Context(), dsn)
	must(t, err)
	t.Cleanup(pool.Close)
	return func(lease worker.Config) (*worker.Generator, error) {
		return pgxstore.Open(t.Context(), pool, lease)
	}
}

func pooledGORM(t *testing.T, dsn string) opener {
	return func(lease worker.Config) (*worker.Generator, error) {
		db := engineOf(ddl.Postgres, "pgx", dsn).gorm(t) // one for each plug-in
		return use(db, gormplugin.Config{Lease: lease})
	}
}

// Behind a PgBouncer in transaction mode, with a few server connections for many clients, every
// driver opens and renews with its default settings, as if the pooler was not there; also next to
// clients that leave prepared statements and settings in the sessions, and that execute whatever
// statement they find there. Every write of a record is committed to the disk.
func TestPgBouncer(t *testing.T) {
	server := testserver.NewPostgres(t)
	pool := testserver.NewPgBouncer(t, server, "pool_mode = transaction", "default_pool_size = 3")
	for i, c := range pooledClients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// Not dropped: PgBouncer 1.18 dies if a session is terminated while a cancel waits for it.
			name := fmt.Sprintf("d%d", i)
			mustExec(t, open(t, "pgx", server.DSN), "CREATE DATABASE "+name)
			direct := strings.Replace(server.DSN, "/postgres?", "/"+name+"?", 1)
			admin := open(t, "pgx", direct)
			prepareRecords(t, admin)
			dsn := strings.Replace(direct, server.Addr, pool.Addr, 1)
			disturb(t, dsn)
			programs := make([]opener, 12)
			for i := range programs {
				programs[i] = c.open(t, dsn+c.params)
			}
			ids := &idSet{}
			openAndClose(t, programs, ids)
			renewFor(t, programs, ids)
			ids.check(t)
			checkRecords(t, admin)
		})
	}
}

// prepareRecords makes the tables, and triggers that record how each write of a record is
// committed: they run at the commit.
func prepareRecords(t *testing.T, admin *sql.DB) {
	t.Helper()
	tables, err := sqlstore.Config{Dialect: ddl.Postgres}.DDL()
	must(t, err)
	mustExec(t, admin, append(tables,
		"CREATE UNLOGGED TABLE commits (level text)",
		`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO public.commits VALUES (current_setting('synchronous_commit')); RETURN NULL;
		END $$`,
		"CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON snow_lease DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()",
		"DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = off'; END $$", // a new session's
		"CREATE SCHEMA elsewhere",
		"CREATE TABLE elsewhere.mine (k bigint PRIMARY KEY, v text)")...)
}

// checkRecords checks that the namespace is whole, that no other schema has one, and that every
// write was flushed, although the session would not wait for that.
func checkRecords(t *testing.T, admin *sql.DB) {
	t.Helper()
	var namespaces string
	var elsewhere, flushed, lax int
	must(t, admin.QueryRow(`SELECT (SELECT COALESCE(string_agg(namespace || ' has ' || layout, ', '), '') FROM public.snow_namespace WHERE namespace <> '*'),
		(SELECT count(*) FROM pg_catalog.pg_tables WHERE tablename LIKE 'snow_%' AND schemaname <> 'public'),
		(SELECT count(*) FROM public.commits WHERE level = 'local'), (SELECT count(*) FROM public.commits WHERE level <> 'local')`).
		Scan(&namespaces, &elsewhere, &flushed, &lax))
	if namespaces != "default has "+driver.Fingerprint(core.Layout{}) || elsewhere > 0 {
		t.Errorf("namespaces %q, %d tables in other schemas", namespaces, elsewhere)
	}
	if flushed == 0 || lax > 0 {
		t.Errorf("%d writes were flushed, and %d were not", flushed, lax)
	}
	t.Logf("%d writes", flushed)
}

// disturb lets other clients of the pool do, until the end of the test, what a pool in transaction
// mode does not keep apart. Their own statements may fail.
func disturb(t *testing.T, dsn string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var others sync.WaitGroup
	t.Cleanup(func() { cancel(); others.Wait() })
	loop := func(db *sql.DB, query string, args func(i int) []any) {
		others.Go(func() {
			defer db.Close()
			for i := 0; ctx.Err() == nil; i++ {
				_, _ = db.Exec(query, args(i)...)
				pause(ctx, 5*time.Millisecond)
			}
		})
	}
	handle := func(driver, params string) *sql.DB {
		db, err := sql.Open(driver, dsn+params)
		must(t, err)
		return db
	}
	none := func(int) []any { return nil }
	// lib/pq binds its arguments to the unnamed statement that it finds: four texts, as a claim has.
	loop(handle("postgres", ""), "INSERT INTO elsewhere.mine (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = $2", func(i int) []any { return []any{i % 9, "default"} })
	loop(handle("postgres", ""), "SELECT $1::text, $2::text", func(i int) []any { return []any{"default", fmt.Sprint("no layout ", i)} })
	loop(handle("pgx", ""), "UPDATE elsewhere.mine SET v = $1 WHERE k = $2", func(i int) []any { return []any{"default", i % 9} })
	loop(handle("pgx", "&default_query_exec_mode=exec"), "UPDATE elsewhere.mine SET v = $1 WHERE k = $2", func(i int) []any { return []any{"default", i % 9} })
	for _, set := range []string{"synchronous_commit = off", "search_path = elsewhere", "standard_conforming_strings = off", "TimeZone = 'Asia/Kathmandu'"} {
		loop(handle("pgx", "&default_query_exec_mode=simple_protocol"), "SET "+set, none)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// openAndClose has the programs open, draw ids and close, 40 times.
func openAndClose(t *testing.T, programs []opener, ids *idSet) {
	t.Helper()
	const opens = 40
	var begun, good atomic.Int32
	var wg sync.WaitGroup
	for _, open := range programs {
		wg.Go(func() {
			for begun.Add(1) <= opens {
				gen, err := open(pooledLease(nil))
				if err == nil {
					err = errors.Join(ids.draw(gen, 200), gen.Close(t.Context()))
				}
				if err != nil {
					t.Logf("open: %.600v", err)
					continue
				}
				good.Add(1)
			}
		})
	}
	if wg.Wait(); good.Load() != opens {
		t.Errorf("%d of %d opened and closed", good.Load(), opens)
	}
}

// renewFor has the programs draw ids and renew all the time, and each at least once.
func renewFor(t *testing.T, programs []opener, ids *idSet) {
	t.Helper()
	d := 4 * time.Second
	if text := os.Getenv(pooledVar); text != "" {
		var err error
		d, err = time.ParseDuration(text)
		must(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var holders sync.WaitGroup
	var failed, opened, renewals atomic.Int64
	for _, open := range programs {
		holders.Go(func() {
			gen, err := open(pooledLease(observerFunc(func(e core.Event) {
				if e.Kind == worker.RenewFailed || e.Kind == worker.Lost || e.Kind == worker.Fenced {
					if failed.Add(1) < 9 {
						t.Errorf("%s: %.600v", e.Kind, e.Err)
					}
				}
			})))
			if err != nil {
				t.Errorf("open: %.600v", err)
				return
			}
			opened.Add(1)
			for began := time.Now(); ctx.Err() == nil || gen.Stats().Renewals == 0 && time.Since(began) < patience; {
				if err := ids.draw(gen, 20); err != nil {
					t.Errorf("draw: %v", err)
					break
				}
				pause(t.Context(), 100*time.Millisecond)
			}
			renewals.Add(int64(gen.Stats().Renewals))
			if err := gen.Close(t.Context()); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	holders.Wait()
	if failed.Load() > 0 || renewals.Load() < opened.Load() {
		t.Errorf("%d events of failure, %d renewals", failed.Load(), renewals.Load())
	}
	t.Logf("%d holders, %d renewals in %v", opened.Load(), renewals.Load(), d)
}

type observerFunc func(core.Event)

// Observe implements core.Observer.
func (f observerFunc) Observe(e core.Event) { f(e) }

// pooledLease renews five times a second, and no busy machine ends it.
func pooledLease(o core.Observer) worker.Config {
	return worker.Config{RenewInterval: 200 * time.Millisecond, FenceWindow: 2 * time.Minute, Timeout: time.Minute, ClaimWait: -1, Observer: o}
}

// An idSet has the ids that several goroutines have drawn.
type idSet struct {
	mu  sync.Mutex
	ids []int64
}

func (s *idSet) draw(gen *worker.Generator, n int) error {
	ids := make([]int64, n)
	if err := gen.Fill(context.Background(), ids); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, ids...)
	return nil
}

// check sorts the ids, and counts those that are there twice.
func (s *idSet) check(t *testing.T) {
	t.Helper()
	slices.Sort(s.ids)
	unique := len(slices.Compact(slices.Clone(s.ids)))
	if unique == 0 || unique != len(s.ids) {
		t.Errorf("%d ids, %d duplicates", len(s.ids), len(s.ids)-unique)
	}
	t.Logf("%d ids, %d duplicates", len(s.ids), len(s.ids)-unique)
}

// Through a PgBouncer in each of its modes, counters never give a number twice, whatever the driver, and
// a lease works: in statement mode too, which refuses transactions.
func TestPgBouncerModes(t *testing.T) {
	for mode, size := range map[string]int{"session": 20, "transaction": 3, "statement": 3} {
		server := testserver.NewPostgres(t)
		pool := testserver.NewPgBouncer(t, server, "pool_mode = "+mode, fmt.Sprint("default_pool_size = ", size))
		dsn := strings.Replace(testserver.Database(t, "pgx", server.DSN), server.Addr, pool.Addr, 1)
		for _, driver := range []string{"pgx", "postgres"} {
			t.Run(mode+" "+driver, func(t *testing.T) {
				cfg := sqlstore.Config{AllowDataLoss: true, Table: "of_" + driver}
				var mu sync.Mutex
				numbers := map[int64]bool{}
				together(t, 12, func(int) (struct{}, error) {
					store := engines.MustNew(sqlstore.New(open(t, driver, dsn), cfg))
					for range 20 {
						n, err := store.Reserve(t.Context(), "invoices", 1)
						if err != nil {
							return struct{}{}, err
						}
						mu.Lock()
						numbers[n] = true
						mu.Unlock()
					}
					return struct{}{}, nil
				})
				if len(numbers) != 240 {
					t.Errorf("%d numbers", len(numbers))
				}
				gen, err := worker.Open(t.Context(), engines.MustNew(sqlstore.New(open(t, driver, dsn), cfg)), worker.Config{RenewInterval: 50 * time.Millisecond, Timeout: patience, FenceWindow: 2 * patience})
				must(t, err)
				await(t, "renewals", func() bool { return gen.Stats().Renewals > 2 })
				if s := gen.Stats(); s.Failures > 0 {
					t.Errorf("%d failures", s.Failures)
				}
				must(t, gen.Close(t.Context()))
			})
		}
	}
}

// What docs/workers.md says about a program's own statements with arguments: which clients get right
// answers where sessions are shared, and that the defaults of pgx and GORM get an error there, or from
// PgBouncer 1.21 on right answers, but never wrong ones.
func TestPgBouncerOwnStatements(t *testing.T) {
	bySQL := func(driver, params string) func(*testing.T, string) *sql.DB {
		return func(t *testing.T, dsn string) *sql.DB { return open(t, driver, dsn+params) }
	}
	byGORM := func(simple bool) func(*testing.T, string) *sql.DB {
		return func(t *testing.T, dsn string) *sql.DB {
			g, err := gorm.Open(postgres.New(postgres.Config{DSN: dsn, PreferSimpleProtocol: simple}), &gorm.Config{Logger: logger.Discard})
			must(t, err)
			db := engines.MustNew(g.DB())
			t.Cleanup(func() { _ = db.Close() })
			return db
		}
	}
	for _, mode := range []string{"transaction", "statement"} {
		server := testserver.NewPostgres(t)
		pool := testserver.NewPgBouncer(t, server, "pool_mode = "+mode, "default_pool_size = 2")
		dsn := strings.Replace(server.DSN, server.Addr, pool.Addr, 1)
		for _, c := range []struct {
			name  string
			open  func(*testing.T, string) *sql.DB
			works bool
		}{
			{"pgx exec", bySQL("pgx", "&default_query_exec_mode=exec"), true},
			{"pgx simple_protocol", bySQL("pgx", "&default_query_exec_mode=simple_protocol"), true},
			{"pq binary_parameters", bySQL("postgres", "&binary_parameters=yes"), true},
			{"gorm PreferSimpleProtocol", byGORM(true), true},
			{"pgx", bySQL("pgx", ""), false},
			{"gorm", byGORM(false), false},
		} {
			t.Run(mode+" "+c.name, func(t *testing.T) {
				db := c.open(t, dsn)
				var refused atomic.Int64
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() {
						for n := range 50 {
							var id int64
							var text string
							err := db.QueryRow(fmt.Sprintf("SELECT $1::bigint + %d, $2::text", i%4), n, fmt.Sprint("text ", n)).Scan(&id, &text)
							switch {
							case err != nil && !c.works && (retry.SQLState(err) == "42P05" || retry.SQLState(err) == "26000"):
								refused.Add(1)
							case err != nil || id != int64(n+i%4) || text != fmt.Sprint("text ", n):
								t.Errorf("%d + %d: %d, %q, %v", n, i%4, id, text, err)
							}
						}
					})
				}
				wg.Wait()
				t.Logf("%d statements of 400 were refused", refused.Load())
			})
		}
	}
}
