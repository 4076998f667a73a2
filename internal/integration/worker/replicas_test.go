package worker

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/plugin/dbresolver"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// use installs a plugin that leases a worker ID, however long that takes.
func use(db *gorm.DB, cfg gormplugin.Config) (*worker.Generator, error) {
	if cfg.Lease.ClaimWait == 0 {
		cfg.Lease.ClaimWait = patience
	}
	plugin := gormplugin.New(cfg)
	err := db.Use(plugin)
	return plugin.Generator(), err
}

// together calls f n times at once.
func together[T any](t *testing.T, n int, f func(i int) (T, error)) []T {
	t.Helper()
	results, errs := make([]T, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { results[i], errs[i] = f(i) })
	}
	wg.Wait()
	must(t, errors.Join(errs...))
	return results
}

// leased are the worker IDs of the namespace "default" that have a holder; -1 without tables.
func leased(t *testing.T, e engine) (n int) {
	t.Helper()
	if e.open(t).QueryRow("SELECT count(*) FROM snow_lease WHERE state = 'held'").Scan(&n) != nil {
		return -1
	}
	return n
}

// The lease is kept in the primary, also if reads go to a replica, before and after the plugin. If
// the plugin cannot be installed after the worker ID was leased, that is given back.
func TestPlugin(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		for _, first := range []bool{true, false} {
			other := e
			switch e.dialect {
			case ddl.SQLite:
				other.dsn = "file:" + filepath.Join(t.TempDir(), "replica.sqlite")
			case ddl.Postgres:
				other = newPostgres(t)
			default:
				other = newMySQL(t, e.dsn)
			}
			db := e.gorm(t)
			resolve := func() {
				must(t, db.Use(dbresolver.Register(dbresolver.Config{Replicas: []gorm.Dialector{other.dialector()}})))
			}
			if first {
				resolve()
			}
			gen, err := use(db, gormplugin.Config{Store: sqlstore.Config{}})
			must(t, err)
			defer gen.Close(context.Background())
			if !first {
				resolve()
			}
			if writer, reader := leased(t, e), leased(t, other); writer != 1 || reader != -1 {
				t.Errorf("%d worker IDs are leased from the writer, %d from the replica", writer, reader)
			}
			must(t, gen.Close(t.Context()))
		}
		db := e.gorm(t)
		// snowkey:fill cannot be before gorm:before_create and behind this one.
		must(t, db.Callback().Create().Before("snowkey:fill").After("gorm:before_create").Register("mine", func(*gorm.DB) {}))
		if _, err := use(db, gormplugin.Config{Store: sqlstore.Config{}}); err == nil || !strings.Contains(err.Error(), "conflicting callback") || leased(t, e) != 0 || len(db.Plugins) > 0 {
			t.Errorf("%v; %d worker IDs are leased, and there are %d plugins", err, leased(t, e), len(db.Plugins))
		}
	})
}
