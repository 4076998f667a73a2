package gormplugin

import (
	"errors"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/sqlite"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/upsert"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Config configures Open, or a Plugin that New makes. The zero value is ready for use with Open;
// New requires Source or Named.
type Config struct {
	Source sqltype.Source            // for fields whose tag names no source; may be nil if every tag does, and must be nil for Open, which sets it
	Named  map[string]sqltype.Source // for the tag snowflake:name, by that name
	Tables map[string]Table          // by the table's name, without its schema
	Models []any                     // checked with Validate when the plugin is installed

	// Strict refuses to create a row whose primary key the plugin does not fill. So a model with
	// a forgotten tag fails, instead of getting keys from a counter of the database. In a
	// composite key, one filled part is enough. A key that consists of foreign keys, as in a
	// join table, need not be filled. False: gorm creates such rows as without the plugin. With
	// Open it is always true.
	Strict bool

	// Exempt lists models, such as &Setting{}, and names of tables, such as "settings", whose
	// keys come from elsewhere. Strict and Models do not check their keys.
	Exempt []any

	// Store says where Open leases the worker ID, and Store.Lease configures the generator and
	// the lease. Zero: the namespace "default" in the tables "snow_worker" and
	// "snow_worker_space", and Twitter's layout. A zero Dialect is that of the handle. New
	// ignores it.
	Store sqlstore.Config
}

// Table says which column of a table is filled, like a tag. It is for maps that db.Table(name)
// creates without a model. It also applies to models of the table: it adds a field that has no
// tag, and sets the source if the tag names none. If db.Table sends the rows of a model to
// another table in Config.Tables, the entry of that table applies.
type Table struct {
	Column string // required
	Source string // a name in Config.Named; empty: Config.Source
	Text   string // empty: the column holds a number; "decimal" or "base62": a text of that form, which a tag must not contradict
}

// Plugin fills the keys of the rows that gorm creates. Make it with [New]. It implements
// gorm.Plugin. One Plugin may serve many handles and goroutines.
type Plugin struct {
	models     []any
	keys       *keys.Registry
	upserts    upsert.Upserts
	collations sync.Map // collationKey → true: checked
}

var _ gorm.Plugin = (*Plugin)(nil)

// New makes a Plugin. It returns a *core.ConfigError with all faults of the configuration.
// The models are checked later, by db.Use.
func New(cfg Config) (*Plugin, error) {
	own := keys.Config{Source: cfg.Source, Named: cfg.Named, Tables: make(map[string]keys.Table, len(cfg.Tables)), Strict: cfg.Strict, Exempt: cfg.Exempt}
	for name, table := range cfg.Tables {
		own.Tables[name] = keys.Table(table)
	}
	registry, err := keys.New(own)
	if err != nil {
		return nil, err
	}
	return &Plugin{models: slices.Clone(cfg.Models), keys: registry, upserts: upsert.Upserts{Keys: registry}}, nil
}

const pluginName = "snowkey"

// Name returns "snowkey". gorm refuses a second plugin of that name on one handle.
func (p *Plugin) Name() string { return pluginName }

// Initialize is called by db.Use. It checks Config.Models and registers the callbacks that fill
// keys. If it fails, no callback stays registered.
func (p *Plugin) Initialize(db *gorm.DB) error {
	if p == nil || p.keys == nil {
		return errors.New("gormplugin: a Plugin must be made by New")
	}
	if err := checkDB(db); err != nil {
		return err
	}
	if err := p.keys.Validate(db, p.models); err != nil {
		return err
	}
	if err := p.register(db); err != nil {
		return err
	}
	p.upserts.RegisterClause(db)
	sqlite.Register(db, p.keys)
	db.Plugins[keys.PluginName] = p.keys // the graph writer finds it there
	return nil
}

// Validate checks that the rows of the models get Snowflake ids. It returns all faults in one
// error, each with the model and the field:
//
//   - a key that the plugin does not fill, such as one with a forgotten or misspelled tag;
//   - a key that gorm treats as auto-increment: AutoMigrate would create a sequence or an
//     AUTO_INCREMENT column, a counter that jumps into the range of the ids;
//   - a field or a column that cannot hold an id: of the wrong type or size, or with a serializer;
//   - on MySQL and MariaDB, a base 62 key whose column ignores case;
//   - a type declared over an integer whose JSON is a bare number, which JavaScript rounds;
//   - a sqltype.Key or NullKey whose Form is wrong, which otherwise fails when a key is written as
//     text;
//   - a foreign key whose field or column cannot hold the id it refers to, which gorm cuts;
//   - a foreign key that is a sqltype.Key or NullKey of another type than the key it refers to,
//     which gorm converts.
//
// If the handle has a [Plugin], Validate also applies its Config.Tables, Config.Exempt and
// sources.
func Validate(db *gorm.DB, models ...any) error {
	if err := checkDB(db); err != nil {
		return err
	}
	return keys.Of(db).Validate(db, models)
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
