package gormplugin_test

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// db.Use leases a worker ID and makes the ids. In examples/readme it runs with a database. This
// handle has none.
func ExamplePlugin() {
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{}) // in earnest: postgres.Open("postgres://…")
	if err != nil {
		fmt.Println(err)
		return
	}
	plugin := gormplugin.New(gormplugin.Config{
		Models: []any{Customer{}},
		Store:  sqlstore.Config{Lease: worker.Config{Namespace: "orders"}},
	})
	if err := db.Use(plugin); err != nil {
		fmt.Println(err)
		return
	}
	defer plugin.Close(context.Background())
	fmt.Println(db.Create(&Customer{Name: "Ada"}).Error)
	// Output: gormplugin: Store.Dialect Detect: gorm's Dialector "dummy" is not known: set Postgres, MySQL or SQLite, whichever the database is compatible with, or set Source
}
