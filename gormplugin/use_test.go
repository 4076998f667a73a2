package gormplugin_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// bare opens a handle without the plugin.
func bare(t *testing.T, dialector gorm.Dialector) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(dialector, &gorm.Config{DryRun: dialector == tests.DummyDialector{}, Logger: logger.Discard})
	must(t, err)
	if pool, err := db.DB(); err == nil {
		t.Cleanup(func() { _ = pool.Close() })
	}
	return db
}

// file returns the dialector of a new file of SQLite.
func file(t *testing.T) gorm.Dialector {
	return sqlite.Open(filepath.Join(t.TempDir(), "test.sqlite") + "?_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
}

// use returns the error of db.Use.
func use(t *testing.T, cfg gormplugin.Config) error {
	t.Helper()
	return bare(t, tests.DummyDialector{}).Use(gormplugin.New(cfg))
}

// db.Use reports all faults of the configuration in one error.
func TestUseRefuses(t *testing.T) {
	var nobody *core.Generator
	for _, c := range []struct {
		cfg  gormplugin.Config
		want []string
	}{
		{gormplugin.Config{
			Source: nobody,
			Named:  map[string]sqltype.Source{"a b": &gormtest.Counter{}, "nil": nil, "none": nobody, "base62": &gormtest.Counter{}, "-": &gormtest.Counter{}},
			Tables: map[string]gormplugin.Table{
				"t": {}, "u": {Column: "id", Source: "nobody"}, "shop.v": {Column: "id"}, "": {Column: "id"}, "w": {Column: "id", Text: "base58"},
			},
			Exempt: []any{"", "shop.orders", 5, nil, "fine", new(int)},
		}, []string{
			"Source nil: is a nil *core.Generator", `"a b"`, `"nil": the source is nil`, `Named "none": the source is a nil *core.Generator`, `Named "base62": has another meaning`,
			`Named "-": has`, `Tables["t"].Column "": must be set`, `Tables["u"].Source "nobody"`, `Tables "shop.v": must be the name of a table`, `Tables "": must`,
			`Tables["w"].Text "base58": must be empty`, `Exempt[0] "": must be the name`, `Exempt[1] "shop.orders": must be the name`, "Exempt[2] 5: is of type int: must be a model",
			"Exempt[3] nil: is of type <nil>", "Exempt[5] *int: is of type *int",
		}},
		{gormplugin.Config{}, []string{`Store.Dialect "": gorm's Dialector "dummy" is not known: set postgres, mysql or sqlite`}},
	} {
		var wrong *core.ConfigError
		err := use(t, c.cfg)
		if !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say %q", err, want)
			}
		}
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"Validate nil":          {gormplugin.Validate(nil, &Order{}), "gormplugin: the *gorm.DB is nil"},
		"Validate no Dialector": {gormplugin.Validate(bare(t, nil), &Order{}), "gormplugin: the *gorm.DB has no Dialector"},
		"Use no Dialector":      {bare(t, nil).Use(new(gormplugin.Plugin)), "gormplugin: the *gorm.DB has no Dialector"},
		"no pool": {use(t, gormplugin.Config{Store: sqlstore.Config{Dialect: ddl.SQLite}}),
			"gormplugin: the handle has no *sql.DB to lease a worker ID from: set Source: invalid db"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, c.err, c.want)
		}
	}
}

// A zero Plugin leases a worker ID from the handle's database, and is a source. A second handle
// uses it as one.
func TestLeases(t *testing.T) {
	ctx := t.Context()
	var plugin gormplugin.Plugin
	if _, err := plugin.Next(ctx); err == nil || err.Error() != "gormplugin: the plugin is not in use: call db.Use first" {
		t.Error(err)
	}
	if err := errors.Join(plugin.Fill(ctx, nil), plugin.Close(ctx)); err == nil || plugin.Generator() != nil {
		t.Error("a Plugin that is not in use has ids, or a generator")
	}
	dialector := file(t)
	db, other := bare(t, dialector), bare(t, dialector)
	must(t, errors.Join(db.Use(&plugin), db.AutoMigrate(&Order{}, &Line{})))
	if err := db.Use(&plugin); !errors.Is(err, gorm.ErrRegistered) {
		t.Errorf("a second Use: %v", err)
	}
	if err := db.Use(gormplugin.New(gormplugin.Config{Source: &gormtest.Counter{}})); !errors.Is(err, gorm.ErrRegistered) {
		t.Errorf("another plugin: %v", err)
	}
	if err := other.Use(&plugin); err == nil || !strings.Contains(err.Error(), "gormplugin.New(gormplugin.Config{Source: plugin})") {
		t.Errorf("a second handle: %v", err)
	}
	must(t, other.Use(gormplugin.New(gormplugin.Config{Source: &plugin})))
	one, two, ids := Order{}, Order{}, make([]int64, 2)
	if err := errors.Join(db.Create(&one).Error, other.Create(&two).Error, plugin.Fill(ctx, ids)); err != nil || one.ID >= two.ID || two.ID.Int64() >= ids[0] {
		t.Errorf("%d %d %d, %v", one.ID, two.ID, ids, err)
	}
	if next, err := plugin.Next(ctx); err != nil || next <= ids[1] {
		t.Errorf("%d, %v", next, err)
	}
	if stats := plugin.Generator().Stats(); stats == (worker.Stats{}) {
		t.Errorf("%+v", stats)
	}
	must(t, plugin.Close(context.Background()))
	for _, db := range []*gorm.DB{db, other} {
		if err := db.Create(&Order{}).Error; !errors.Is(err, core.ErrClosed) {
			t.Error(err)
		}
	}
}

// A database in memory leases worker IDs, whether or not connections share it.
func TestMemory(t *testing.T) {
	for _, dsn := range []string{":memory:", "file::memory:", "file::memory:?cache=shared", "file:named?mode=memory&cache=shared"} {
		t.Run(dsn, func(t *testing.T) {
			db := bare(t, sqlite.Open(dsn))
			plugin, order := new(gormplugin.Plugin), Order{}
			if err := errors.Join(db.Use(plugin), db.AutoMigrate(&Order{}, &Line{}), db.Create(&order).Error); err != nil || order.ID == 0 {
				t.Fatalf("%d, %v", order.ID, err)
			}
			if stats := plugin.Generator().Stats(); stats.Ahead > time.Second {
				t.Errorf("ids begin %v ahead of the clock", stats.Ahead)
			}
			must(t, plugin.Close(t.Context()))
		})
	}
}

// ClaimWait is the only limit of db.Use, and its error names it.
func TestClaimWait(t *testing.T) {
	dialector, preferred := file(t), int64(7)
	cfg := gormplugin.Config{Lease: worker.Config{Preferred: &preferred, RequirePreferred: true, ClaimWait: 300 * time.Millisecond}}
	plugin := gormplugin.New(cfg)
	must(t, bare(t, dialector).Use(plugin))
	if err := bare(t, dialector).Use(gormplugin.New(cfg)); !errors.Is(err, worker.ErrNoWorkerID) || !strings.Contains(err.Error(), "Lease.ClaimWait") {
		t.Error(err)
	}
	closed := make(chan error)
	go func() {
		time.Sleep(time.Second)
		closed <- plugin.Close(context.Background())
	}()
	cfg.Lease.ClaimWait = 5 * time.Minute
	next := gormplugin.New(cfg)
	must(t, errors.Join(bare(t, dialector).Use(next), <-closed, next.Close(t.Context())))
}

// If db.Use fails, no worker ID stays leased and no callback registered.
func TestUseFails(t *testing.T) {
	db := bare(t, file(t))
	cfg := gormplugin.Config{Models: []any{&Forgotten{}}, Lease: worker.Config{Namespace: "orders"}}
	if err := db.Use(gormplugin.New(cfg)); err == nil || !strings.Contains(err.Error(), "Forgotten.ID: the key of type int64 is auto-increment") {
		t.Error(err)
	}
	if tables, err := db.Migrator().GetTables(); err != nil || len(tables) > 0 {
		t.Errorf("tables of leases %v, %v", tables, err)
	}
	impossible := db.Callback().Create().Before("gorm:create").After("gorm:commit_or_rollback_transaction")
	if err := impossible.Register("impossible", func(*gorm.DB) {}); err == nil {
		t.Fatal("gorm takes a callback that is before and after others")
	}
	plugin := gormplugin.New(gormplugin.Config{Store: cfg.Store})
	if err := db.Use(plugin); err == nil || !strings.Contains(err.Error(), "gormplugin: snowkey:fill: conflicting callback") || plugin.Generator() != nil {
		t.Errorf("%v, %v", err, plugin.Generator())
	}
	must(t, db.Callback().Create().Remove("impossible"))
	if err := db.Use(plugin); err != nil || db.AutoMigrate(&Order{}, &Line{}) != nil || db.Create(&Order{}).Error != nil {
		t.Errorf("a second try: %v", err)
	}
	must(t, plugin.Close(t.Context()))
}

// gorm installs the plugins of gorm.Config.Plugins, also on handles with the same configuration or a copy
// of it, as dbresolver opens for its replicas. A plugin with a Source serves all of them, and one that
// leases only its own database: the others may belong to a process with the same worker ID.
func TestSharedConfiguration(t *testing.T) {
	plugins := map[string]func() *gormplugin.Plugin{
		"leased": func() *gormplugin.Plugin { return new(gormplugin.Plugin) },
		"source": func() *gormplugin.Plugin { return gormplugin.New(gormplugin.Config{Source: &gormtest.Counter{}}) },
	}
	open := func(cfg *gorm.Config) *gorm.DB { return databases.HandleOf(t, file(t), cfg) }
	for order, pair := range map[string]func(cfg *gorm.Config, p *gormplugin.Plugin) (own, other *gorm.DB, err error){
		"Open, Use, Open": func(cfg *gorm.Config, p *gormplugin.Plugin) (*gorm.DB, *gorm.DB, error) {
			own := open(cfg)
			err := own.Use(p)
			return own, open(cfg), err
		},
		"Open, Open, Use of the first": func(cfg *gorm.Config, p *gormplugin.Plugin) (*gorm.DB, *gorm.DB, error) {
			own, other := open(cfg), open(cfg)
			return own, other, own.Use(p)
		},
		"Open, Open, Use of the second": func(cfg *gorm.Config, p *gormplugin.Plugin) (*gorm.DB, *gorm.DB, error) {
			other, own := open(cfg), open(cfg)
			return own, other, own.Use(p)
		},
		"Plugins": func(cfg *gorm.Config, p *gormplugin.Plugin) (*gorm.DB, *gorm.DB, error) {
			cfg.Plugins = map[string]gorm.Plugin{p.Name(): p}
			return open(cfg), open(cfg), nil
		},
		"a copy": func(cfg *gorm.Config, p *gormplugin.Plugin) (*gorm.DB, *gorm.DB, error) {
			cfg.Plugins = map[string]gorm.Plugin{p.Name(): p}
			own := open(cfg)
			of := *own.Config
			return own, open(&of), nil
		},
	} {
		for name, plugin := range plugins {
			t.Run(order+", "+name, func(t *testing.T) {
				p := plugin()
				own, other, err := pair(&gorm.Config{Logger: logger.Discard}, p)
				must(t, err)
				must(t, errors.Join(own.AutoMigrate(&Item{}, &Price{}), other.AutoMigrate(&Item{}, &Price{})))
				for _, db := range []*gorm.DB{own, other} {
					ways := map[string]func(item *Item) error{
						"Create": func(item *Item) error { return db.Create(item).Error },
						"Transaction": func(item *Item) error {
							return db.Transaction(func(tx *gorm.DB) error { return tx.Create(item).Error })
						},
						"Connection": func(item *Item) error { return db.Connection(func(tx *gorm.DB) error { return tx.Create(item).Error }) },
						"graph":      func(item *Item) error { return graph.Create(t.Context(), db, item) },
					}
					for way, create := range ways {
						item := Item{Prices: []Price{{Cents: 1}}}
						err := create(&item)
						if refused := name == "leased" && db == other; refused != (err != nil) || refused != (item.ID == 0) || refused && !strings.Contains(err.Error(), "leases its worker ID from the database of another handle") {
							t.Errorf("%s, own %t: %+v, %v", way, db == own, item, err)
						}
					}
					if err := db.Use(p); !errors.Is(err, gorm.ErrRegistered) {
						t.Error(err)
					}
				}
				must(t, p.Close(t.Context()))
			})
		}
	}
}
