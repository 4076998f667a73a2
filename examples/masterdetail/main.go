// Command masterdetail writes an order with its lines, its customer and its tags
// in one transaction: the keys of all rows come from one reservation, and each
// table gets one INSERT. It prints the SQL that it sends.
//
//	go run ./examples/masterdetail
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Customer struct {
	ID   sqltype.ID
	Name string
}

type Order struct {
	ID         sqltype.ID
	Note       string
	CustomerID sqltype.ID
	Customer   *Customer
	Lines      []Line
	Tags       []*Tag `gorm:"many2many:order_tags"`
}

type Line struct {
	ID      sqltype.ID
	OrderID sqltype.ID
	SKU     string
	Pieces  int `gorm:"check:pieces > 0"`
}

// Tag is found by its word if it is there already.
type Tag struct {
	ID   sqltype.ID
	Word string `gorm:"unique"`
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "masterdetail:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // each process its own number
	if err != nil {
		return err
	}
	defer gen.Close()
	db, err := open(out, gen)
	if err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	defer pool.Close()

	urgent := &Tag{Word: "urgent"}
	orders := []*Order{
		{Note: "first", Customer: &Customer{Name: "Ada"}, Lines: []Line{{SKU: "tea", Pieces: 2}, {SKU: "cup", Pieces: 1}}, Tags: []*Tag{urgent}},
		{Note: "second", Customer: &Customer{Name: "Bob"}, Lines: []Line{{SKU: "pot", Pieces: 1}}, Tags: []*Tag{urgent, {Word: "gift"}}},
	}
	fmt.Fprintln(out, "Two orders:")
	if err := graph.Create(ctx, db, orders); err != nil {
		return err
	}
	for _, o := range orders {
		for _, l := range o.Lines {
			if l.OrderID != o.ID || l.ID <= o.ID {
				return fmt.Errorf("line %d is not one of order %d", l.ID, o.ID)
			}
		}
	}

	fmt.Fprintln(out, "\nA third, whose tag is there already:")
	known := &Tag{Word: "gift"}
	if err := graph.Create(ctx, db, &Order{Note: "third", Customer: orders[0].Customer, Tags: []*Tag{known}}); err != nil {
		return err
	}
	fmt.Fprintln(out, "  the tag has the key of the row:", known.ID == orders[1].Tags[1].ID)

	fmt.Fprintln(out, "\nA fourth, with a line that the database refuses:")
	bad := &Order{Note: "fourth", Customer: &Customer{Name: "Eve"}, Lines: []Line{{SKU: "tea", Pieces: 0}}}
	err = graph.Create(ctx, db, bad)
	fmt.Fprintf(out, "  %v\n", err)
	var customers int64
	if err := db.Session(&gorm.Session{}).Model(&Customer{}).Where("name = ?", "Eve").Count(&customers).Error; err != nil {
		return err
	}
	fmt.Fprintf(out, "  rows left: %d, keys left: %d and %d\n", customers, bad.ID, bad.Customer.ID)
	return nil
}

// open makes the tables in a database in memory, and from then on prints what is
// sent to it.
func open(out io.Writer, gen *core.Generator) (*gorm.DB, error) {
	models := []any{&Customer{}, &Order{}, &Line{}, &Tag{}}
	plugin, err := gormplugin.New(gormplugin.Config{Source: gen, Models: models, Strict: true})
	if err != nil {
		return nil, err
	}
	db, err := gorm.Open(sqlite.Open(":memory:?_pragma=foreign_keys(1)"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1) // a database in memory lives in its connection
	if err := db.Use(plugin); err != nil {
		return nil, err
	}
	if err := db.AutoMigrate(models...); err != nil {
		return nil, err
	}
	db.ConnPool = &printing{ConnPool: pool, begin: pool.BeginTx, out: out}
	db.Statement.ConnPool = db.ConnPool
	return db, nil
}
