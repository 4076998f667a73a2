package gormplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Config configures a Plugin. The zero value leases a worker ID from the handle's database.
type Config struct {
	// Source makes the ids of fields whose tag names no other source. nil: db.Use leases a worker
	// ID from the handle's database, and the plugin makes the ids.
	Source sqltype.Source
	// Lease configures the generator and the lease of its worker ID, if Source is nil. Its ClaimWait
	// is also how long db.Use waits for a worker ID. Zero: the namespace "default" and Twitter's layout.
	Lease worker.Config
	// Store says where the plugin leases the worker ID, if Source is nil. Zero: in the tables "snow_lease" and
	// "snow_namespace". A zero Dialect is the handle's.
	Store sqlstore.Config

	Named  map[string]sqltype.Source // for the tag snowflake:name, by that name
	Tables map[string]Table          // by the table's name, without its schema
	Models []any                     // checked with Validate by db.Use

	// Strict refuses to insert a row whose sole key is an integer, is zero, and is not filled: the
	// database would make the key. Use it if all tables have Snowflake keys. It refuses nothing
	// else, and no INSERT with a conflict clause, such as gorm's for an association. False: the row
	// is inserted as without the plugin, and gorm's logger gets one warning for each model.
	Strict bool
	// Exempt lists models, such as &Setting{}, and names of tables, such as "settings", whose keys
	// the database makes: for them, Strict and Models refuse no key, and nothing is logged.
	Exempt []any
}

// Table says which column of a table is filled, like a tag. It is for maps that db.Table(name)
// creates without a model. In models of the table, it acts as the tag of a field that has none, and
// as the source of a tag that names none.
type Table struct {
	Column string // required
	Source string // a name in Config.Named; empty: Config.Source
	Text   string // empty: the column holds a number; "decimal" or "base62": a string of that form, which a tag must not contradict
}

// Plugin fills the keys of the rows that gorm creates. db.Use installs it. The zero value is
// New(Config{}).
//
// A Plugin without Config.Source leases a worker ID, serves one handle, and is closed with Close.
// With a Source, it may serve many handles. It is a [sqltype.Source] itself, for example for the
// plugin of a second handle.
//
// All methods are safe for concurrent use.
type Plugin struct {
	keysHolder // for package graph
	cfg        Config
	registry   *keys.Registry

	mu     sync.Mutex // of Initialize
	source atomic.Pointer[sqltype.Source]
	leased atomic.Pointer[worker.Generator] // nil with a Source
}

type keysHolder = keys.Holder

var (
	_ gorm.Plugin    = (*Plugin)(nil)
	_ sqltype.Source = (*Plugin)(nil)
)

// New returns a Plugin. db.Use reports the faults of the configuration.
func New(cfg Config) *Plugin { return &Plugin{cfg: cfg} }

// Name returns "snowkey": gorm takes one plugin of a name on a handle.
func (p *Plugin) Name() string { return "snowkey" }

// Initialize is called by db.Use. It checks the configuration and Config.Models, leases a worker
// ID unless there is a Source, and registers the callbacks that fill keys. It returns a
// *core.ConfigError with all faults of the configuration, or an error of [Validate] or
// [worker.Open], which ends with the statements to run if the role may not create the tables. After
// an error, no worker ID is leased and no callback is registered. If MySQL's sql_mode is not strict,
// gorm's logger gets a warning.
func (p *Plugin) Initialize(db *gorm.DB) (err error) {
	if err := checkDB(db); err != nil {
		return err
	}
	if db.Callback().Create().Get("snowkey:fill") != nil {
		return fmt.Errorf("gormplugin: the handle has a snowkey plugin already: call db.Use once, where gorm.Open is called: %w", gorm.ErrRegistered)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	source := p.cfg.Source
	if p.registry == nil {
		registry, err := p.cfg.registry(cmp.Or[sqltype.Source](source, p)) // p has leased by the first create
		if err != nil {
			return err
		}
		p.registry, p.keysHolder = registry, keys.NewHolder(registry)
	}
	listed := slices.Contains(slices.Collect(maps.Values(db.Plugins)), gorm.Plugin(p)) // in a copy of gorm.Config, as dbresolver makes for its replicas
	if err := p.registry.CheckHome(db); err != nil && !listed {
		return fmt.Errorf("gormplugin: %w", err)
	}
	if err := p.registry.Validate(db, p.cfg.Models); err != nil {
		return err
	}
	var gen *worker.Generator // that this call leases a worker ID for
	if source == nil && p.leased.Load() == nil {
		if gen, err = p.cfg.lease(db); err != nil {
			return err
		}
		source = gen
	}
	if err := p.register(db); err != nil {
		if gen != nil {
			err = errors.Join(err, gen.Close(context.Background()))
		}
		return err
	}
	if gen != nil {
		p.registry.SetHome(db)
		p.leased.Store(gen)
	}
	if source != nil { // else an earlier call has set it
		p.source.Store(&source)
	}
	warnNotStrict(db)
	return nil
}

// warnNotStrict logs a warning if MySQL or MariaDB would cut a key to what a narrow column holds, with an
// id of the plugin and all rows that refer to it.
func warnNotStrict(db *gorm.DB) {
	pool, err := db.DB()
	if err != nil || db.Name() != "mysql" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // a pool may be used up
	defer cancel()
	var mode string
	if pool.QueryRowContext(ctx, "SELECT @@sql_mode").Scan(&mode) == nil && !strings.Contains(mode, "STRICT_") {
		db.Logger.Warn(ctx, "snowkey: sql_mode is not strict: into a column that is not bigint yet, MySQL writes 2147483647 "+
			"instead of a key, and 0 where a key is missing, without an error; add STRICT_TRANS_TABLES")
	}
}

// Next returns one id of the plugin's source. Before db.Use, it returns an error.
func (p *Plugin) Next(ctx context.Context) (int64, error) {
	source := p.source.Load()
	if source == nil {
		return 0, errNotInUse
	}
	return (*source).Next(ctx)
}

// Fill sets all elements of ids to ids of the plugin's source, or none on an error.
func (p *Plugin) Fill(ctx context.Context, ids []int64) error {
	source := p.source.Load()
	if source == nil {
		return errNotInUse
	}
	return (*source).Fill(ctx, ids)
}

var errNotInUse = errors.New("gormplugin: the plugin is not in use: call db.Use first")

// Validate checks that the rows of the models get Snowflake ids. It returns all faults in one
// error, each with the model and the field. A create refuses them too, except keys that are not filled:
//
//   - a key that the plugin does not fill, such as one with a forgotten or misspelled tag;
//   - a key that gorm treats as auto-increment: AutoMigrate would make a counter, which jumps into
//     the range of the ids;
//   - a field or a column that cannot hold an id: of the wrong type or size, or with a serializer;
//   - on MySQL and MariaDB, a base 62 key whose column ignores case;
//   - a foreign key whose field or column cannot hold the id it refers to, which is cut;
//   - a foreign key that is a sqltype.Key or NullKey of another type than the key it refers to,
//     which gorm converts.
//
// If the handle has a [Plugin], Validate also applies its Config.Tables, Config.Exempt and
// sources.
func Validate(db *gorm.DB, models ...any) error {
	if err := checkDB(db); err != nil {
		return err
	}
	return keys.RegistryOf(db).Validate(db, models)
}

// checkDB refuses a handle on which methods of gorm would panic.
func checkDB(db *gorm.DB) error {
	switch {
	case db == nil || db.Config == nil:
		return errors.New("gormplugin: the *gorm.DB is nil")
	case db.Dialector == nil:
		return errors.New("gormplugin: the *gorm.DB has no Dialector")
	}
	return nil
}

// Model is gorm.Model with a Snowflake key: embed it in a model.
type Model struct {
	ID        sqltype.ID `gorm:"primaryKey"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index"`
}
