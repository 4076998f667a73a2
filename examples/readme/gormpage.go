package readme

import (
	"context"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
)

// withOpen is in docs/gorm.md.
func withOpen(ctx context.Context, db *gorm.DB, serve func() error) error {
	gen, err := gormplugin.Open(ctx, db, gormplugin.OpenConfig{})
	if err != nil {
		return err
	}
	defer gen.Close(context.Background())
	return serve()
}

// withNew is in docs/gorm.md.
func withNew(db *gorm.DB, generator gormplugin.Source) error {
	plugin, err := gormplugin.New(gormplugin.Config{Source: generator, Strict: true})
	if err != nil {
		return err
	}
	err = db.Use(plugin)
	return err
}

// createGraph is in docs/graphs.md.
func createGraph(ctx context.Context, db *gorm.DB) (*Order, error) {
	order := &Order{
		Note:  "urgent",
		Lines: []OrderLine{{SKU: "tea"}, {SKU: "cup"}},
	}
	err := graph.Create(ctx, db, order)
	return order, err
}
