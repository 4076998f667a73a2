package sharding_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/contrib/sharding"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Order struct {
	OrderID  sqltype.Key[Order] `gorm:"primaryKey"`
	Customer string
	Lines    []Line
}

type Line struct {
	ID      sqltype.Key[Line]
	OrderID sqltype.Key[Order]
	SKU     string
}

func ExampleNew() {
	folder, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(folder)
	db, err := gorm.Open(sqlite.Open(filepath.Join(folder, "shop.sqlite")), &gorm.Config{})
	check(err)
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	check(err)
	defer gen.Close()

	check(db.Use(sharding.New(sharding.Config{Key: "order_id", Shards: 64}, &Order{}, &Line{})))
	check(db.Use(gormplugin.New(gormplugin.Config{Source: gen})))
	check(db.AutoMigrate(&Order{}, &Line{})) // orders_s0 to orders_s63, and lines_s0 to lines_s63

	order := &Order{Customer: "Ann", Lines: []Line{{SKU: "a"}, {SKU: "b"}}}
	check(graph.Create(context.Background(), db, order))
	var found Order
	check(db.Preload("Lines").First(&found, order.OrderID).Error)
	fmt.Println(found.Customer, len(found.Lines))
	// Output: Ann 2
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
