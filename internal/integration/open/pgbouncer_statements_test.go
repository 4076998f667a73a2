package open

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// throughPool starts a PgBouncer with three server connections for each database, which has this
// pool_mode, and returns the DSN of a new database: direct, and through the pool.
func throughPool(t *testing.T, mode string, settings ...string) (direct, pooled string) {
	t.Helper()
	server := testserver.NewPostgres(t)
	settings = append([]string{"pool_mode = " + mode, "default_pool_size = 3", "ignore_startup_parameters = extra_float_digits"}, settings...)
	pool := testserver.NewPgBouncer(t, server, settings...)
	direct = testserver.Database(t, "pgx", server.DSN)
	return direct, strings.Replace(direct, server.Addr, pool.Addr, 1)
}

// An asker asks for the value of an expression with one argument.
type asker func(expression string, arg int64) (int64, error)

func sqlAsker(t *testing.T, driver, dsn string) asker {
	db, err := sql.Open(driver, dsn)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return func(expression string, arg int64) (n int64, err error) {
		err = db.QueryRow("SELECT "+expression, arg).Scan(&n)
		return n, err
	}
}

func gormAsker(t *testing.T, cfg postgres.Config) asker {
	db, err := gorm.Open(postgres.New(cfg), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	pool, err := db.DB()
	must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return func(expression string, arg int64) (n int64, err error) {
		err = db.Raw("SELECT "+strings.ReplaceAll(expression, "$1", "?"), arg).Scan(&n).Error
		return n, err
	}
}

// The ways of docs/workers.md to send statements of one's own through a PgBouncer in transaction and
// in statement mode. How others fail there is logged.
func TestPgBouncerStatements(t *testing.T) {
	for _, mode := range []string{"transaction", "statement"} {
		_, dsn := throughPool(t, mode)
		for _, w := range []struct {
			name string
			ask  asker
			good bool
		}{
			{"pgx", sqlAsker(t, "pgx", dsn), false},
			{"pgx cache_describe", sqlAsker(t, "pgx", dsn+"&default_query_exec_mode=cache_describe"), false},
			{"pgx describe_exec", sqlAsker(t, "pgx", dsn+"&default_query_exec_mode=describe_exec"), false},
			{"pgx exec", sqlAsker(t, "pgx", dsn+"&default_query_exec_mode=exec"), true},
			{"pgx simple_protocol", sqlAsker(t, "pgx", dsn+"&default_query_exec_mode=simple_protocol"), true},
			{"pq", sqlAsker(t, "postgres", dsn), false},
			{"pq binary_parameters", sqlAsker(t, "postgres", dsn+"&binary_parameters=yes"), true},
			{"gorm", gormAsker(t, postgres.Config{DSN: dsn}), false},
			{"gorm PreferSimpleProtocol", gormAsker(t, postgres.Config{DSN: dsn, PreferSimpleProtocol: true}), true},
			{"gorm exec", gormAsker(t, postgres.Config{DSN: dsn + "&default_query_exec_mode=exec"}), true},
		} {
			t.Run(mode+" "+w.name, func(t *testing.T) {
				failed, wrong, first := askAll(w.ask)
				t.Logf("%d failed, %d were wrong: %v", failed, wrong, first)
				if w.good && failed+wrong > 0 {
					t.Errorf("%d of 1200 statements failed, and %d had another one's answer: %v", failed, wrong, first)
				}
			})
		}
	}
}

// askAll asks 1,200 times, twelve at once, by three expressions.
func askAll(ask asker) (failed, wrong int64, first error) {
	var wg sync.WaitGroup
	var fails, wrongs atomic.Int64
	var one sync.Once
	for range 12 {
		wg.Go(func() {
			for i := range int64(100) {
				factor := i%3 + 2
				n, err := ask(fmt.Sprintf("CAST($1 AS bigint) * %d", factor), i)
				switch {
				case err != nil:
					fails.Add(1)
					one.Do(func() { first = err })
				case n != i*factor:
					wrongs.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return fails.Load(), wrongs.Load(), first
}

// Through a PgBouncer in transaction mode, counters never give a number twice, whatever the driver.
func TestPgBouncerCounters(t *testing.T) {
	_, dsn := throughPool(t, "transaction")
	for _, driver := range []string{"pgx", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			var mu sync.Mutex
			var numbers, starts []int64
			together(t, 12, func(int) (struct{}, error) {
				db, err := sql.Open(driver, dsn)
				must(t, err)
				defer db.Close()
				store, err := sqlstore.New(db, sqlstore.Config{AllowDataLoss: true, Table: "of_" + driver})
				must(t, err)
				for range 20 {
					n, err := store.Reserve(t.Context(), "invoices", 1)
					if err != nil {
						return struct{}{}, err
					}
					start, _, err := worker.FromCounter(t.Context(), store, core.Layout{}, "starts")
					if err != nil {
						return struct{}{}, err
					}
					mu.Lock()
					numbers, starts = append(numbers, n), append(starts, start)
					mu.Unlock()
				}
				return struct{}{}, nil
			})
			for name, got := range map[string][]int64{"numbers": numbers, "starts": starts} {
				slices.Sort(got)
				if n := len(slices.Compact(slices.Clone(got))); n != 240 || len(got) != n {
					t.Errorf("%s: %d, of which %d differ", name, len(got), n)
				}
			}
		})
	}
}

// In statement mode, which refuses transactions, a lease works too.
func TestPgBouncerStatementMode(t *testing.T) {
	_, dsn := throughPool(t, "statement")
	for _, driver := range []string{"postgres", "pgx"} {
		db, err := sql.Open(driver, dsn)
		must(t, err)
		t.Cleanup(func() { _ = db.Close() })
		gen, err := sqlstore.Open(t.Context(), db, leasing(worker.Config{RenewInterval: 50 * time.Millisecond, Timeout: patience, FenceWindow: 2 * patience}))
		if err != nil {
			t.Fatalf("%s: %v", driver, err)
		}
		for deadline := time.Now().Add(patience); gen.Stats().Renewals < 3 && time.Now().Before(deadline); {
			pause(t.Context(), 10*time.Millisecond)
		}
		if s := gen.Stats(); s.Renewals < 3 || s.Failures > 0 {
			t.Errorf("%s: %d renewals, %d failures", driver, s.Renewals, s.Failures)
		}
		must(t, gen.Close(t.Context()))
	}
}

// Load's COPY and Retry work in transaction mode, in the modes Exec and SimpleProtocol: they are
// transactions, which a pooler does not split.
func TestPgBouncerLoad(t *testing.T) {
	direct, dsn := throughPool(t, "transaction")
	db := database{"postgres", direct}.table(t)
	for _, mode := range []string{"exec", "simple_protocol"} {
		for _, method := range []pgxload.Method{pgxload.Copy, pgxload.Unnest} {
			t.Run(fmt.Sprint(mode, " ", method), func(t *testing.T) {
				gen, err := core.New(core.Config{Worker: core.Fixed(1)})
				must(t, err)
				together(t, 6, func(int) (struct{}, error) {
					pool, err := pgxpool.New(t.Context(), dsn+"&default_query_exec_mode="+mode)
					must(t, err)
					defer pool.Close()
					for range 5 {
						if err := loadRows(t.Context(), pool, gen, method); err != nil {
							return struct{}{}, err
						}
					}
					return struct{}{}, nil
				})
				var n int
				must(t, db.QueryRow("WITH gone AS (DELETE FROM rows_ RETURNING id) SELECT count(*) FROM gone").Scan(&n))
				if n != 6*5*100 {
					t.Errorf("%d rows", n)
				}
			})
		}
	}
}

func loadRows(ctx context.Context, pool *pgxpool.Pool, gen *core.Generator, method pgxload.Method) error {
	rows := make([]Row, 100)
	if err := sqltype.Assign(ctx, gen, rows, func(r *Row) *sqltype.ID { return &r.ID }); err != nil {
		return err
	}
	return pgxload.Retry(ctx, pool, func(tx pgx.Tx) error {
		_, err := pgxload.LoadWith(ctx, tx, pgxload.Config{Method: method, ChunkBytes: 1000}, func(w *pgxload.Writer) error {
			table := w.Table("rows_", "id", "who")
			for _, r := range rows {
				table.Row(r.ID, r.Who)
			}
			return nil
		})
		return err
	})
}
