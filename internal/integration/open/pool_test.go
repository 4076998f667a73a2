package open

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A single is a generator over a pool of one connection. hold takes the connection, and the
// function that it returns gives it back.
type single struct {
	open func(t *testing.T, d database, cfg worker.Config) (gen *worker.Generator, hold func() (free func()))
	want string
}

var singles = map[string]single{
	"sql": {func(t *testing.T, d database, cfg worker.Config) (*worker.Generator, func() func()) {
		db := d.sql(t)
		db.SetMaxOpenConns(1)
		gen, err := sqlstore.Open(t.Context(), db, leasing(cfg))
		must(t, err)
		return gen, func() func() {
			conn, err := db.Conn(t.Context())
			must(t, err)
			return func() { must(t, conn.Close()) }
		}
	}, "all connections of the pool are in use (1 of 1): give the lease a pool of its own, or raise SetMaxOpenConns"},
	"pgxpool": {func(t *testing.T, d database, cfg worker.Config) (*worker.Generator, func() func()) {
		pool := d.pgx(t, 1)
		gen, err := pgxstore.Open(t.Context(), pool, leasing(cfg))
		must(t, err)
		return gen, func() func() {
			conn, err := pool.Acquire(t.Context())
			must(t, err)
			return conn.Release
		}
	}, "all connections of the pool are in use (1 of 1): give the lease a pool of its own, or raise MaxConns"},
}

// brisk is a lease that ends soon.
var brisk = worker.Config{FenceWindow: 900 * time.Millisecond, MaxWait: 100 * time.Millisecond}

// If the program uses up the pool for longer than the lease lasts, each error says so. When a
// connection is free, ids continue, under another worker ID if the first was taken.
func TestPoolUsedUp(t *testing.T) {
	for name, s := range singles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, seen := freshPostgres(t), &failures{}
			cfg := brisk
			cfg.Observer = seen
			gen, hold := s.open(t, d, cfg)
			defer gen.Close(context.Background())
			_, err := gen.Next(t.Context())
			must(t, err)
			before := gen.Worker()
			free := hold()
			eventually(t, "an id fails", func() bool { _, err = gen.Next(t.Context()); return err != nil })
			for what, err := range map[string]error{"Next": err, "Failing": gen.Failing(), "the event": seen.first()} {
				if err == nil || !strings.Contains(err.Error(), s.want) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v\nwant %s", what, err, s.want)
				}
			}
			if !errors.Is(err, core.ErrFenced) {
				t.Error(err)
			}
			rival := brisk
			rival.Preferred, rival.RequirePreferred = &before, true
			other, err := sqlstore.Open(t.Context(), d.sql(t), leasing(rival))
			must(t, err)
			defer other.Close(context.Background())
			free()
			eventually(t, "ids continue", func() bool { _, err := gen.Next(t.Context()); return err == nil })
			if st := gen.Stats(); gen.Failing() != nil || st.Worker == before || st.Losses != 1 {
				t.Errorf("%v, %+v", gen.Failing(), st)
			}
		})
	}
}

// If the server does not answer, no error blames the pool, although the lease's own attempts fill it.
func TestPoolNotUsedUp(t *testing.T) {
	for outage, begin := range map[string]func(*network.Link){"silent": (*network.Link).Silence, "cut": (*network.Link).Cut} {
		for name, s := range singles {
			t.Run(outage+" "+name, func(t *testing.T) {
				t.Parallel()
				d := freshPostgres(t)
				link := network.LinkTo(t, testserver.Postgres(t).Addr)
				d.dsn = strings.Replace(d.dsn, testserver.Postgres(t).Addr, link.Addr, 1)
				seen := &failures{}
				cfg := brisk
				cfg.Observer = seen
				gen, _ := s.open(t, d, cfg)
				defer func() { link.Mend(); _ = gen.Close(context.Background()) }()
				begin(link)
				eventually(t, "some failures", func() bool { return gen.Stats().Failures >= 6 })
				for _, err := range seen.all() {
					if strings.Contains(err.Error(), "of the pool") {
						t.Error(err)
					}
				}
			})
		}
	}
}

// failures are the errors of a lease's renewals.
type failures struct {
	mu   sync.Mutex
	errs []error
}

func (f *failures) Observe(e core.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Kind == worker.RenewFailed {
		f.errs = append(f.errs, e.Err)
	}
}

func (f *failures) all() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errs
}

func (f *failures) first() error {
	if errs := f.all(); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
