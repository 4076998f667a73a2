package readme

import (
	"context"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
)

func checkout(ctx context.Context, db *gorm.DB) ([]Order, error) {
	orders := []Order{
		{Note: "urgent", Lines: []OrderLine{{SKU: "tea"}, {SKU: "cup"}}},
		{Note: "a gift", Lines: []OrderLine{{SKU: "jam"}}},
	}
	return orders, graph.Create(ctx, db, &orders)
}
