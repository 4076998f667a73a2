package gormplugin_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// On SQLite, a key of type sqltype.ID is the rowid.
func ExampleMigrator() {
	db, err := gorm.Open(sqlite.Open("file::memory:"), &gorm.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if pool, err := db.DB(); err == nil {
		pool.SetMaxOpenConns(1) // each connection has its own database
	}
	err = gormplugin.Migrator(db).AutoMigrate(&Customer{})
	fmt.Println(err)
	types, err := db.Migrator().ColumnTypes(&Customer{})
	fmt.Println(types[0].Name(), types[0].DatabaseTypeName(), err)
	// Output:
	// <nil>
	// id integer <nil>
}

// A plugin without a Source leases a worker ID from the handle's database. Here that is in memory, so
// the lease is lost when the process ends.
func ExamplePlugin() {
	ctx := context.Background()
	db, err := gorm.Open(sqlite.Open("file::memory:"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		fmt.Println(err)
		return
	}
	if pool, err := db.DB(); err == nil {
		pool.SetMaxOpenConns(1) // each connection has its own database
	}
	plugin := gormplugin.New(gormplugin.Config{
		Models: []any{Customer{}},
		Lease:  worker.Config{Namespace: "orders"},
	})
	customer := Customer{Name: "Ada"}
	err = errors.Join(db.Use(plugin), db.AutoMigrate(&Customer{}), db.Create(&customer).Error)
	fmt.Println(customer.ID > 0, plugin.Generator().Failing(), err)

	id, err := plugin.Next(ctx) // for something that is no row of the handle
	fmt.Println(id > 0, err)
	ids := make([]int64, 3)
	err = plugin.Fill(ctx, ids)
	fmt.Println(ids[0] < ids[1], err)

	err = plugin.Close(ctx)
	fmt.Println(errors.Is(db.Create(&Customer{}).Error, core.ErrClosed), err)
	// Output:
	// true <nil> <nil>
	// true <nil>
	// true <nil>
	// true <nil>
}
