package gormplugin

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// registry makes the Registry, and returns all faults of the configuration.
func (cfg *Config) registry(source sqltype.Source) (*keys.Registry, error) {
	var wrong fields.Errors
	r := keys.New(source, cfg.Named, &wrong)
	for _, name := range slices.Sorted(maps.Keys(cfg.Tables)) {
		t := cfg.Tables[name]
		r.AddTable(name, t.Column, t.Source, t.Text, &wrong)
	}
	r.Exempt(cfg.Exempt, &wrong)
	return r, wrong.Err("gormplugin")
}

// lease leases a worker ID from the handle's database.
func (cfg *Config) lease(db *gorm.DB) (*worker.Generator, error) {
	where := cfg.Store
	if where.Dialect == "" {
		where.Dialect = map[string]ddl.Dialect{"postgres": ddl.Postgres, "mysql": ddl.MySQL, "sqlite": ddl.SQLite}[db.Name()]
		if where.Dialect == "" {
			return nil, fields.Error("gormplugin", "Store.Dialect", "", "gorm's Dialector %q is not known: "+
				"set postgres, mysql or sqlite, whichever the database is compatible with; "+
				"for another database set Source, to a generator with a lease in PostgreSQL, MySQL, Redis or etcd", db.Name())
		}
	}
	pool, err := db.DB()
	if err != nil {
		return nil, fmt.Errorf("gormplugin: the handle has no *sql.DB to lease a worker ID from: set Source: %w", err)
	}
	store, err := sqlstore.New(pool, where)
	if err != nil {
		return nil, err
	}
	gen, err := worker.Open(context.Background(), store, cfg.Lease)
	if err != nil && !driver.IsPermanent(err) {
		err = fmt.Errorf("%w; db.Use has retried for Config.Lease.ClaimWait", err)
	}
	return gen, err
}

// Generator returns the generator that the plugin has leased a worker ID for, with its Stats,
// Metrics and Failing. It is nil before db.Use, and with Config.Source.
func (p *Plugin) Generator() *worker.Generator { return p.leased.Load() }

// Close releases the worker ID, as [worker.Generator.Close] does: later creates fail with
// core.ErrClosed. Call it before you close the handle's pool. With Config.Source, and before
// db.Use, Close does nothing.
func (p *Plugin) Close(ctx context.Context) error {
	if gen := p.leased.Load(); gen != nil {
		return gen.Close(ctx)
	}
	return nil
}
