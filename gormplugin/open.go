package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Open leases a worker ID from the handle's database, makes a generator that uses it, and
// installs the plugin. All processes that call Open on one database give their rows different
// keys. [worker.Open] says what is guaranteed, and which errors are returned.
//
// The plugin is strict: creating a row whose key it does not fill is an error, unless
// Config.Exempt lists the model.
//
// Open creates the tables of the leases if they are missing. If the role may not do that, the
// error ends with the statements to run. A wrong configuration is a *core.ConfigError, before the
// first query. If Open fails, nothing stays leased and the plugin is not installed.
//
// The context only affects Open; the lease lasts until Close, and uses the handle's pool.
// After Close, creates through the handle fail with core.ErrClosed. The handle accepts no
// second plugin: open the database again.
func Open(ctx context.Context, db *gorm.DB, cfg Config) (*worker.Generator, error) {
	pool, err := cfg.check(db)
	if err != nil {
		return nil, err
	}
	gen, err := sqlstore.Open(ctx, pool, cfg.Store)
	if err != nil {
		return nil, err
	}
	plugin, err := cfg.plugin(gen)
	if err == nil {
		err = db.Use(plugin)
	}
	if err != nil {
		return nil, errors.Join(err, gen.Close(context.Background()))
	}
	return gen, nil
}

// check checks the configuration before the first query, and sets the dialect.
func (cfg *Config) check(db *gorm.DB) (*sql.DB, error) {
	if err := checkDB(db); err != nil {
		return nil, err
	}
	if _, installed := db.Plugins[pluginName]; installed {
		return nil, fmt.Errorf("gormplugin: the handle has a plugin %q already: %w", pluginName, gorm.ErrRegistered)
	}
	if cfg.Source != nil {
		return nil, fieldError("Source", fmt.Sprintf("%T", cfg.Source), "must be nil, since Open sets it; New takes a source of yours")
	}
	plugin, err := cfg.plugin(new(worker.Generator)) // a placeholder, for the check only
	if err != nil {
		return nil, err
	}
	if err := plugin.keys.Validate(db, cfg.Models); err != nil {
		return nil, err
	}
	if cfg.Store.Dialect == sqlstore.Detect {
		cfg.Store.Dialect = map[string]sqlstore.Dialect{"postgres": sqlstore.Postgres, "mysql": sqlstore.MySQL, "sqlite": sqlstore.SQLite}[db.Name()]
		if cfg.Store.Dialect == sqlstore.Detect {
			return nil, fieldError("Store.Dialect", "Detect", fmt.Sprintf("gorm's Dialector %q is not known: set Postgres, MySQL or SQLite, whichever the database is compatible with", db.Name()))
		}
	}
	pool, err := db.DB()
	if err != nil {
		return nil, fmt.Errorf("gormplugin: the handle has no *sql.DB to keep the lease in: %w", err)
	}
	return pool, nil
}

func fieldError(field, value, reason string) error {
	return &core.ConfigError{Package: "gormplugin", Fields: []core.FieldError{{Field: field, Value: value, Reason: reason}}}
}

func (cfg *Config) plugin(source sqltype.Source) (*Plugin, error) {
	own := *cfg
	own.Source, own.Strict = source, true
	return New(own)
}
