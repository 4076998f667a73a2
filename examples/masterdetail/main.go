// Command masterdetail writes orders with their lines, customers and tags in one transaction: the
// keys of all rows come from one reservation, and each table needs one INSERT. It prints the SQL.
//
//	go run ./examples/masterdetail
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

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

// Tag is one row for each text, also if it exists already.
type Tag struct {
	ID   sqltype.ID
	Text string `gorm:"unique"`
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "masterdetail:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // a worker ID for this process only
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

	urgent := &Tag{Text: "urgent"}
	orders := []*Order{
		{Note: "first", Customer: &Customer{Name: "Ada"}, Lines: []Line{{SKU: "tea", Pieces: 2}, {SKU: "cup", Pieces: 1}}, Tags: []*Tag{urgent}},
		{Note: "second", Customer: &Customer{Name: "Bob"}, Lines: []Line{{SKU: "pot", Pieces: 1}}, Tags: []*Tag{urgent, {Text: "gift"}}},
	}
	fmt.Fprintln(out, "Two orders:")
	if err := graph.Create(ctx, db, orders); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nA third, whose tag exists:")
	known := &Tag{Text: "gift"}
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

// open creates the tables in memory, and prints the statements after that.
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
	pool.SetMaxOpenConns(1) // each connection has a memory of its own
	if err := db.Use(plugin); err != nil {
		return nil, err
	}
	if err := db.AutoMigrate(models...); err != nil {
		return nil, err
	}
	return db.Session(&gorm.Session{Logger: printer{logger.Discard, out}}), nil
}

// printer is a logger that prints the SQL.
type printer struct {
	logger.Interface
	out io.Writer
}

func (p printer) Trace(_ context.Context, _ time.Time, statement func() (sql string, rows int64), _ error) {
	sql, _ := statement()
	fmt.Fprintln(p.out, " ", sql)
}
