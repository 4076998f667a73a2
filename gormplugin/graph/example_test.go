package graph_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Basket struct {
	ID      sqltype.ID
	Entries []Entry
}

type Entry struct {
	ID       sqltype.ID
	BasketID sqltype.ID
	What     string
}

// example opens a handle that builds statements and sends none. Its ids are 1, 2, 3 and so on.
func example() *gorm.DB { return open(tests.DummyDialector{}, true) }

func open(dialector gorm.Dialector, dryRun bool) *gorm.DB {
	db, err := gorm.Open(dialector, &gorm.Config{DryRun: dryRun, Logger: logger.Discard})
	if err != nil {
		panic(err)
	}
	plugin := gormplugin.New(gormplugin.Config{Source: &gormtest.Counter{}}) // or without a Source: it leases a worker ID
	if err := db.Use(plugin); err != nil {
		panic(err)
	}
	return db
}

func ExampleAssign() {
	baskets := []Basket{{Entries: []Entry{{What: "tea"}, {What: "cup"}}}, {Entries: []Entry{{What: "pot"}}}}
	if err := graph.Assign(context.Background(), example(), baskets); err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range baskets {
		fmt.Println(b.ID, b.Entries)
	}
	// Output:
	// 1 [{2 1 tea} {3 1 cup}]
	// 4 [{5 4 pot}]
}

func ExampleCreate() {
	db, ctx := open(sqlite.Open("file:baskets?mode=memory&cache=shared"), false), context.Background()
	if err := db.AutoMigrate(&Basket{}, &Entry{}); err != nil {
		fmt.Println(err)
		return
	}
	basket := &Basket{Entries: []Entry{{What: "tea"}, {What: "cup"}}}
	err := graph.Create(ctx, db, basket)
	if errors.Is(err, sqltype.ErrOutcomeUnknown) {
		// It may have been committed. The keys are the same, so this writes what is missing.
		err = graph.Create(ctx, db.Clauses(clause.OnConflict{DoNothing: true}), basket)
	}
	fmt.Println(basket.ID, basket.Entries, err)
	// Output: 1 [{2 1 tea} {3 1 cup}] <nil>
}

func ExampleCreateWith() {
	baskets := make([]Basket, 100)
	for i := range baskets {
		baskets[i].Entries = make([]Entry, 10)
	}
	result, err := graph.CreateWith(context.Background(), example(), baskets, graph.Config{BatchSize: 400})
	for _, t := range result.Tables {
		fmt.Println(t.Table, t.Inserts)
	}
	fmt.Println(err)
	// Output:
	// baskets 1
	// entries 3
	// <nil>
}

// On a DryRun handle, as this one, the statements are in the result.
func ExampleResult() {
	result, err := graph.CreateWith(context.Background(), example(), &Basket{Entries: make([]Entry, 2)}, graph.Config{})
	for _, s := range result.Statements {
		fmt.Println(s.SQL, len(s.Vars))
	}
	fmt.Println(err)
	// Output:
	// INSERT INTO `baskets` (`id`) VALUES (?) 1
	// INSERT INTO `entries` (`id`,`basket_id`,`what`) VALUES (?,?,?),(?,?,?) 6
	// <nil>
}
