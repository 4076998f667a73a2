package open

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"
	"gorm.io/plugin/dbresolver"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// leased are the worker IDs of the namespace "default" that have a holder; -1 without tables.
func leased(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if db.QueryRow("SELECT count(*) FROM snow_worker WHERE token <> ''").Scan(&n) != nil {
		return -1
	}
	return n
}

// Faults of the handle and the configuration are found before the first query.
func TestRefusedBeforehand(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		type Forgotten struct {
			ID   int64 `gorm:"primaryKey;snowflake"`
			Name string
		}
		for want, cfg := range map[string]gormplugin.Config{
			"Forgotten.ID: the key of type int64": {Models: []any{Forgotten{}}},
			`Tables["x"].Column "": must be set`:  {Tables: map[string]gormplugin.Table{"x": {}}},
			"Namespace \"a b\"":                   {Store: leasing(worker.Config{Namespace: "a b"})},
			"Sequence 9":                          {Store: leasing(worker.Config{Sequence: 9})},
		} {
			t.Run(want, func(t *testing.T) {
				db := d.gorm(t)
				if _, err := use(db, cfg); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				if len(db.Plugins) > 0 {
					t.Error("a plugin is installed")
				}
			})
		}
		if n := leased(t, d.sql(t)); n != -1 {
			t.Errorf("%d worker IDs are leased", n)
		}
		if d.name != "postgres" {
			return
		}
		if _, err := pgxstore.Open(t.Context(), d.pgx(t, 1), sqlstore.Config{Dialect: sqlstore.MySQL}); err == nil || !strings.Contains(err.Error(), "Dialect MySQL") {
			t.Error(err)
		}
	})
}

// If a step fails after the worker ID was leased, it is given back, and the handle does not
// change.
func TestNothingIsLeftBehind(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		seen := d.sql(t)
		d.table(t)
		if _, err := sqlstore.Open(t.Context(), d.sql(t), leasing(worker.Config{NotBefore: time.Now().AddDate(100, 0, 0)})); err == nil || !strings.Contains(err.Error(), "NotBefore") {
			t.Errorf("%v", err)
		}
		if n := leased(t, seen); n != 0 {
			t.Errorf("after a generator that could not be made, %d worker IDs are leased", n)
		}
		db := d.gorm(t)
		// snowkey:fill cannot be before gorm:before_create and behind this one.
		must(t, db.Callback().Create().Before("snowkey:fill").After("gorm:before_create").Register("mine", func(*gorm.DB) {}))
		_, err := use(db, gormplugin.Config{Store: lossy})
		if err == nil || !strings.Contains(err.Error(), "conflicting callback") {
			t.Fatalf("%v", err)
		}
		if n := leased(t, seen); n != 0 || len(db.Plugins) > 0 {
			t.Errorf("after a plugin that could not be installed, %d worker IDs are leased, and there are %d plugins", n, len(db.Plugins))
		}
		must(t, db.Create(&Row{ID: 7}).Error) // by gorm alone
		var rows int64
		if must(t, db.Model(&Row{}).Count(&rows).Error); rows != 1 {
			t.Errorf("%d rows", rows)
		}
		must(t, db.Callback().Create().Remove("mine"))
		gen, err := use(db, gormplugin.Config{Store: lossy})
		must(t, err)
		defer gen.Close(context.Background())
		must(t, db.Create(&Row{}).Error)
		if _, err := use(db, gormplugin.Config{Store: lossy}); !errors.Is(err, gorm.ErrRegistered) {
			t.Errorf("a second time: %v", err)
		}
		if n := leased(t, seen); n != 1 {
			t.Errorf("%d worker IDs are leased", n)
		}
	})
}

// The lease is kept in the primary, also if reads go to a replica, before and after the plugin.
func TestReplica(t *testing.T) {
	for name, first := range map[string]bool{"before": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			onEvery(t, func(t *testing.T, d database) {
				replica := d
				switch d.name {
				case "sqlite":
					replica.dsn = "file:" + filepath.Join(t.TempDir(), "replica.sqlite")
				case "postgres":
					replica = freshPostgres(t)
				default:
					replica = freshMySQL(t, d.dsn)
				}
				db := d.gorm(t)
				resolve := func() {
					must(t, db.Use(dbresolver.Register(dbresolver.Config{Replicas: []gorm.Dialector{replica.dialector()}})))
				}
				if first {
					resolve()
				}
				gen, err := use(db, gormplugin.Config{Store: lossy})
				must(t, err)
				defer gen.Close(context.Background())
				if !first {
					resolve()
				}
				d.table(t)
				must(t, db.Create(&Row{}).Error)
				if writer, reader := leased(t, d.sql(t)), leased(t, replica.sql(t)); writer != 1 || reader != -1 {
					t.Errorf("%d worker IDs are leased from the writer, %d from the replica", writer, reader)
				}
				must(t, gen.Close(t.Context()))
			})
		})
	}
}

// A missing database is an error, at once if waiting does not help.
func TestNoDatabase(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		closed := d.sql(t)
		must(t, closed.Close())
		handle := d.gorm(t)
		pool, err := handle.DB()
		must(t, err)
		must(t, pool.Close())
		began := time.Now()
		store := sqlstore.Config{Lease: worker.Config{ClaimWait: patience}}
		plugin := gormplugin.Config{Store: store}
		for name, open := range map[string]func() (*worker.Generator, error){
			"closed is closed": func() (*worker.Generator, error) { return sqlstore.Open(t.Context(), closed, store) },
			"handle is closed": func() (*worker.Generator, error) { return use(handle, plugin) },
			"db nil":           func() (*worker.Generator, error) { return sqlstore.Open(t.Context(), nil, store) },
			"pool nil":         func() (*worker.Generator, error) { return pgxstore.Open(t.Context(), nil, store) },
			`"dummy" is not`: func() (*worker.Generator, error) {
				db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{})
				must(t, err)
				return use(db, plugin)
			},
		} {
			t.Run(name, func(t *testing.T) {
				_, want, _ := strings.Cut(name, " ")
				if gen, err := open(); err == nil || gen != nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, %v", name, gen, err)
				}
			})
		}
		if took := time.Since(began); took > patience/2 { // one that is tried again takes all of it
			t.Errorf("it took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sqlstore.Open(ctx, d.sql(t), lossy); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

// While the database fails, Failing says why. Close returns an error because the worker ID was
// not released, and may be called again.
func TestFailing(t *testing.T) {
	d := database{"sqlite", "file:" + filepath.Join(t.TempDir(), "test.sqlite")}
	other := d.sql(t)
	lock, err := other.Conn(t.Context())
	must(t, err)
	defer lock.Close()
	gen, err := use(d.gorm(t), gormplugin.Config{Store: sqlstore.Config{Lease: worker.Config{FenceWindow: patience, RenewInterval: 50 * time.Millisecond, Timeout: time.Second, ClaimWait: -1}}})
	must(t, err)
	until := func(what string, done func() bool) {
		t.Helper()
		for began := time.Now(); !done(); time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > patience {
				t.Fatalf("%s: not in %v, failing: %v", what, patience, gen.Failing())
			}
		}
	}
	must(t, gen.Failing())
	_, err = lock.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	must(t, err)
	var failing *worker.RetryError
	until("failing", func() bool { return errors.As(gen.Failing(), &failing) })
	_, err = gen.Next(t.Context()) // ids continue meanwhile
	must(t, err)
	if err := gen.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "not released") {
		t.Errorf("Close of what cannot be released: %v", err)
	}
	if _, err := gen.Next(t.Context()); !errors.Is(err, core.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	_, err = lock.ExecContext(t.Context(), "ROLLBACK")
	must(t, err)
	must(t, gen.Close(context.Background()))
	if n := leased(t, other); n != 0 {
		t.Errorf("%d worker IDs are leased", n)
	}
}

// Another layout needs another namespace.
func TestLayout(t *testing.T) {
	d := database{"sqlite", "file:" + filepath.Join(t.TempDir(), "test.sqlite")}
	layout := core.Discord()
	ahead := func() time.Time { return time.Now().Add(5 * time.Second) }
	gen, err := use(d.gorm(t), gormplugin.Config{Store: sqlstore.Config{Lease: worker.Config{Layout: layout, Now: ahead}}})
	must(t, err)
	defer gen.Close(context.Background())
	id, err := gen.Next(t.Context())
	must(t, err)
	parts, err := layout.Decode(id)
	if err != nil || gen.Layout() != layout || time.Until(parts.Time) < 3*time.Second {
		t.Errorf("%+v, %v", parts, err)
	}
	var other *worker.LayoutError
	if _, err := sqlstore.Open(t.Context(), d.sql(t), sqlstore.Config{}); !errors.As(err, &other) {
		t.Errorf("another layout: %v", err)
	}
	second, err := sqlstore.Open(t.Context(), d.sql(t), sqlstore.Config{Lease: worker.Config{Namespace: "second"}})
	must(t, err)
	must(t, second.Close(t.Context()))

	// Close with a done context returns an error, and the next Close releases the worker ID.
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := gen.Close(done); !errors.Is(err, context.Canceled) {
		t.Errorf("Close with a context that is done: %v", err)
	}
	must(t, gen.Close(t.Context()))
	if n := leased(t, d.sql(t)); n != 0 {
		t.Errorf("%d worker IDs are leased", n)
	}
}

// Generators that Open did not make.
func TestZero(t *testing.T) {
	for _, gen := range []*worker.Generator{nil, {}} {
		_, err := gen.Next(t.Context())
		for _, err := range []error{err, gen.Fill(t.Context(), make([]int64, 1)), gen.Failing()} {
			if !errors.Is(err, core.ErrClosed) {
				t.Errorf("%v", err)
			}
		}
		must(t, gen.Close(t.Context()))
	}
	var _ sqltype.Source = new(worker.Generator)
}

// A lease over a pool of pgx keeps none of its connections, and does not close the pool.
func TestPoolOfPgx(t *testing.T) {
	d := freshPostgres(t)
	pool := d.pgx(t, 1)
	gen, err := pgxstore.Open(t.Context(), pool, leasing(worker.Config{FenceWindow: 600 * time.Millisecond, Timeout: patience, TTL: patience}))
	must(t, err)
	for gen.Stats().Renewals < 2 { // beside the program, on one connection
		_, err := pool.Exec(t.Context(), "SELECT pg_sleep(0.01)")
		must(t, err)
	}
	must(t, gen.Close(t.Context()))
	_, err = pool.Exec(t.Context(), "SELECT 1")
	must(t, err)
	pool.Close() // waits for connections that are in use
	if _, err := pgxstore.Open(t.Context(), pool, lossy); err == nil || !strings.Contains(err.Error(), "closed pool") {
		t.Errorf("%v", err)
	}
}
