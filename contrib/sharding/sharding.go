package sharding

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	upstream "gorm.io/sharding"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Config says how rows are spread.
type Config struct {
	Key    string // the column that decides the shard, the same in each table; empty: "id"
	Shards int    // the number of tables of each model, 1 to core.MaxShards; required
}

// New returns a plugin for db.Use, which shards tables: models, or names. db.Use returns the faults
// of the configuration, and an error if a table exists without a suffix. A handle has one such
// plugin.
func New(cfg Config, tables ...any) gorm.Plugin {
	if cfg.Key == "" {
		cfg.Key = "id"
	}
	suffixes := make([]string, min(max(cfg.Shards, 0), core.MaxShards))
	for i := range suffixes {
		suffixes[i] = fmt.Sprintf("_s%d", i)
	}
	return &plugin{cfg, tables, upstream.Register(upstream.Config{
		ShardingKey:     cfg.Key,
		ShardingSuffixs: func() []string { return suffixes },
		ShardingAlgorithm: func(value any) (string, error) {
			shard, err := cfg.shard(value)
			if err != nil {
				return "", fmt.Errorf("sharding: %s is %#v: %w", cfg.Key, value, err)
			}
			return suffixes[shard], nil
		},
		PrimaryKeyGenerator:   upstream.PKCustom,
		PrimaryKeyGeneratorFn: func(int64) int64 { return 0 }, // 0 adds no key: it cannot fail, and is called for rows with a key, too
	}, tables...)}
}

// shard returns the shard of a value of the column Key.
func (cfg Config) shard(value any) (int, error) {
	value, err := driver.DefaultParameterConverter.ConvertValue(value)
	if err != nil {
		return 0, err
	}
	id, _ := value.(int64)
	if digits, ok := value.(string); ok {
		id, _ = strconv.ParseInt(digits, 10, 64)
	}
	if id == 0 {
		return 0, errors.New("it must be an id or a string of its digits, and not 0")
	}
	return core.Shard(id, cfg.Shards)
}

type plugin struct {
	cfg    Config
	tables []any
	*upstream.Sharding
}

// Initialize is called by db.Use.
func (p *plugin) Initialize(db *gorm.DB) error {
	if _, err := core.Shard(1, p.cfg.Shards); err != nil {
		return fmt.Errorf("sharding: Config.Shards: %w", err)
	}
	inner, ok := db.Dialector.(complete)
	if !ok {
		return fmt.Errorf("sharding: %T sets no savepoints, or translates no errors", db.Dialector)
	}
	for _, table := range p.tables {
		stmt := &gorm.Statement{DB: db}
		_ = stmt.Parse(table) // fails for a name
		name := cmp.Or(stmt.Table, fmt.Sprint(table))
		if db.Migrator().HasTable(name) { // statements that gorm.io/sharding cannot parse would go there
			return fmt.Errorf("sharding: table %q exists: move its rows to its shards, and rename it", name)
		}
	}
	db.SkipDefaultTransaction = true // gorm.io/sharding only pretends to begin one
	if err := p.Sharding.Initialize(db); err != nil {
		return fmt.Errorf("sharding: %w", err)
	}
	db.Dialector = dialector{inner, db.Dialector}
	// gorm.io/sharding panics when it logs a statement that failed, or migrates a model with relations.
	p.DB = db.Session(&gorm.Session{Logger: logger.Discard})
	p.IgnoreRelationshipsWhenMigrating = true
	return nil
}

// complete is a Dialector with the methods that gorm looks for. The Dialector of gorm.io/sharding hides them.
type complete interface {
	gorm.Dialector
	gorm.SavePointerDialectorInterface
	gorm.ErrorTranslator
}

type dialector struct {
	complete
	sharded gorm.Dialector
}

func (d dialector) Migrator(db *gorm.DB) gorm.Migrator { return d.sharded.Migrator(db) }

// BindVarTo passes ids as int64, as gorm.io/sharding requires.
func (d dialector) BindVarTo(writer clause.Writer, stmt *gorm.Statement, v any) {
	if id, ok := v.(interface{ Int64() int64 }); ok && reflect.TypeOf(v).Kind() == reflect.Int64 {
		stmt.Vars[len(stmt.Vars)-1] = id.Int64()
	}
	d.complete.BindVarTo(writer, stmt, v)
}
