package gormplugin_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	DoublePointer struct {
		ID **sqltype.ID `gorm:"primaryKey"`
	}
	Protected struct {
		ID sqltype.ID `gorm:"<-:false"`
	}
	NullKey struct{ ID sqltype.NullID }
)

type Narrow struct {
	ID int32 `gorm:"primaryKey;autoIncrement:false;snowflake"`
}

type Forgotten struct {
	ID int64 `gorm:"primaryKey;snowflake"`
}

func TestValidate(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	if err := gormplugin.Validate(db, Order{}, &Line{}, Composite{}, PublicNumber{}); err != nil {
		t.Error(err)
	}
	err := gormplugin.Validate(db, Forgotten{}, Narrow{}, NullKey{}, 5)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"Forgotten.ID: the key of type int64 is auto-increment", "add autoIncrement:false", "Narrow.ID", "NullKey.ID: a key of type sqltype.NullID", "int"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	plugin, err := gormplugin.New(gormplugin.Config{Source: &gormtest.Counter{}, Models: []any{Forgotten{}}})
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Use(plugin); err == nil || !strings.Contains(err.Error(), "Forgotten.ID") {
		t.Errorf("Use with a model that is auto-increment: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := gormplugin.New(gormplugin.Config{
		Named: map[string]sqltype.Source{"a b": &gormtest.Counter{}, "nil": nil, "base62": &gormtest.Counter{}, "-": &gormtest.Counter{}},
		Tables: map[string]gormplugin.Table{
			"t": {}, "u": {Column: "id", Source: "nobody"}, "shop.v": {Column: "id"}, "": {Column: "id"}, "w": {Column: "id", Text: "base58"},
		},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`"a b"`, `"nil": the source is nil`, `Tables["t"].Column "": must be set`, `Tables["u"].Source "nobody"`, `Named "base62": has another meaning`,
		`Named "-": has`, `Tables "shop.v": must be the name of a table`, `Tables "": must`, `Tables["w"].Text "base58": must be empty`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	var nobody *core.Generator
	_, err = gormplugin.New(gormplugin.Config{Source: nobody, Named: map[string]sqltype.Source{"orders": nobody}})
	for _, want := range []string{"Source nil: is a nil *core.Generator", `Named "orders": the source is a nil *core.Generator`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err := gormplugin.New(gormplugin.Config{}); err == nil || !strings.Contains(err.Error(), "Source nil") {
		t.Errorf("no source: %v", err)
	}
}

// One value serves many handles, each with its own schemas, from many goroutines.
func TestOnePluginTwoHandles(t *testing.T) {
	src := &gormtest.Counter{}
	plugin, err := gormplugin.New(gormplugin.Config{Source: src})
	if err != nil {
		t.Fatal(err)
	}
	var handles []*gorm.DB
	for range 2 {
		db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Use(plugin); err != nil {
			t.Fatal(err)
		}
		handles = append(handles, db)
	}
	if err := handles[0].Use(plugin); !errors.Is(err, gorm.ErrRegistered) {
		t.Errorf("a second Use: %v", err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				o := Order{Lines: []Line{{}}}
				if err := handles[i%2].Create(&o).Error; err != nil || o.ID == 0 || o.Lines[0].ID == 0 {
					t.Errorf("%+v, %v", o, err)
				}
			}
		})
	}
	wg.Wait()
	if src.Last != 800 {
		t.Errorf("%d ids were taken, want 800", src.Last)
	}
}

// What was not made as it must be is an error of Use and Validate.
func TestUnusable(t *testing.T) {
	open := func(dialector gorm.Dialector) *gorm.DB {
		db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	plugin, err := gormplugin.New(gormplugin.Config{Source: &gormtest.Counter{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		try  func() error
		want string
	}{
		"zero Plugin":           {func() error { return open(tests.DummyDialector{}).Use(new(gormplugin.Plugin)) }, "gormplugin: a Plugin must be made by New"},
		"Validate nil":          {func() error { return gormplugin.Validate(nil, &Order{}) }, "gormplugin: the *gorm.DB is nil"},
		"Validate no Dialector": {func() error { return gormplugin.Validate(open(nil), &Order{}) }, "gormplugin: the *gorm.DB has no Dialector"},
		"Use no Dialector":      {func() error { return open(nil).Use(plugin) }, "gormplugin: the *gorm.DB has no Dialector"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.try(); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
