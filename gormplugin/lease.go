package gormplugin

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// registry checks the configuration.
func (cfg *Config) registry(source sqltype.Source) (*keys.Registry, error) {
	tables := make(map[string]keys.Table, len(cfg.Tables))
	for name, table := range cfg.Tables {
		tables[name] = keys.Table(table)
	}
	return keys.New(keys.Config{Source: source, Named: cfg.Named, Tables: tables, Strict: cfg.Strict, Exempt: cfg.Exempt})
}

// lease leases a worker ID from the handle's database.
func (cfg *Config) lease(db *gorm.DB) (*worker.Generator, error) {
	store := cfg.Store
	if store.Dialect == sqlstore.Detect {
		store.Dialect = map[string]sqlstore.Dialect{"postgres": sqlstore.Postgres, "mysql": sqlstore.MySQL, "sqlite": sqlstore.SQLite}[db.Name()]
		if store.Dialect == sqlstore.Detect {
			return nil, fieldError("Store.Dialect", "Detect", fmt.Sprintf("gorm's Dialector %q is not known: set Postgres, MySQL or SQLite, whichever the database is compatible with, or set Source", db.Name()))
		}
	}
	if cfg.Timeout < 0 {
		return nil, fieldError("Timeout", cfg.Timeout.String(), "must not be negative")
	}
	pool, err := db.DB()
	if err != nil {
		return nil, fmt.Errorf("gormplugin: the handle has no *sql.DB to keep the lease in: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(cfg.Timeout, 15*time.Second))
	defer cancel()
	return sqlstore.Open(ctx, pool, store)
}

func fieldError(field, value, reason string) error {
	return &core.ConfigError{Package: "gormplugin", Fields: []core.FieldError{{Field: field, Value: value, Reason: reason}}}
}

// Generator returns the generator that the plugin has leased a worker ID for, with its Stats,
// Metrics and Failing. It is nil before db.Use, and with Config.Source.
func (p *Plugin) Generator() *worker.Generator { return p.leased.Load() }

// Close gives the worker ID back, as [worker.Generator.Close] does: creates through the handle
// then fail with core.ErrClosed. Close it before the handle's pool. With Config.Source, and before
// db.Use, Close does nothing.
func (p *Plugin) Close(ctx context.Context) error {
	if gen := p.leased.Load(); gen != nil {
		return gen.Close(ctx)
	}
	return nil
}
