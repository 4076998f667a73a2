package footprint

import (
	"context"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// model is 100 models: one for each pair of the ten types below.
type model[A, B any] struct {
	ID    sqltype.ID
	Name  string
	Owner sqltype.ID
	Sum   int64
	Text  string
}

// TableName is one for all: no row is written.
func (model[A, B]) TableName() string { return "models" }

type (
	t0 struct{}
	t1 struct{}
	t2 struct{}
	t3 struct{}
	t4 struct{}
	t5 struct{}
	t6 struct{}
	t7 struct{}
	t8 struct{}
	t9 struct{}
)

func ten[A any]() []any {
	return []any{
		new(model[A, t0]), new(model[A, t1]), new(model[A, t2]), new(model[A, t3]), new(model[A, t4]),
		new(model[A, t5]), new(model[A, t6]), new(model[A, t7]), new(model[A, t8]), new(model[A, t9]),
	}
}

func hundred() []any {
	var list []any
	for _, ten := range []func() []any{ten[t0], ten[t1], ten[t2], ten[t3], ten[t4], ten[t5], ten[t6], ten[t7], ten[t8], ten[t9]} {
		list = append(list, ten()...)
	}
	return list
}

// parsed is a handle without a database, to which gorm has parsed all models.
func parsed(b *testing.B) *gorm.DB {
	b.Helper()
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range hundred() {
		if err := (&gorm.Statement{DB: db}).Parse(m); err != nil {
			b.Fatal(err)
		}
	}
	return db
}

// use puts a plugin into use, and has it fill one row of each model.
func use(b *testing.B, db *gorm.DB) *gormplugin.Plugin {
	b.Helper()
	plugin, err := gormplugin.New(gormplugin.Config{Source: new(counting), Models: hundred()})
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Use(plugin); err != nil {
		b.Fatal(err)
	}
	for _, m := range hundred() {
		if err := db.Create(m).Error; err != nil {
			b.Fatal(err)
		}
	}
	return plugin
}

// counting is a source that holds next to nothing.
type counting struct{ last int64 }

func (c *counting) Next(context.Context) (int64, error) { c.last++; return c.last, nil }

func (c *counting) Fill(_ context.Context, ids []int64) error {
	for i := range ids {
		c.last++
		ids[i] = c.last
	}
	return nil
}
