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
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// memory opens a database in memory, which loses the lease when the process ends.
func memory(plugin *gormplugin.Plugin) *gorm.DB {
	db, err := gorm.Open(sqlite.Open("file::memory:"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		panic(err)
	}
	pool, err := db.DB()
	if err != nil {
		panic(err)
	}
	pool.SetMaxOpenConns(1) // each connection has a database of its own
	if err := errors.Join(db.Use(plugin), db.AutoMigrate(&Customer{})); err != nil {
		panic(err)
	}
	return db
}

// leasing leases a worker ID from the handle's database when db.Use installs it.
func leasing() *gormplugin.Plugin {
	return gormplugin.New(gormplugin.Config{
		Models: []any{Customer{}},
		Store:  sqlstore.Config{AllowDataLoss: true, Lease: worker.Config{Namespace: "orders"}}, // a database in memory is not durable
	})
}

func ExamplePlugin() {
	plugin := leasing()
	db := memory(plugin)
	defer plugin.Close(context.Background())

	customer := Customer{Name: "Ada"}
	err := db.Create(&customer).Error
	fmt.Println(customer.ID > 0, err)
	// Output: true <nil>
}

func ExamplePlugin_Close() {
	plugin := leasing()
	db := memory(plugin)

	fmt.Println(plugin.Close(context.Background()))
	err := db.Create(&Customer{Name: "Ada"}).Error
	fmt.Println(errors.Is(err, core.ErrClosed))
	// Output:
	// <nil>
	// true
}

func ExamplePlugin_Generator() {
	plugin := leasing()
	fmt.Println(plugin.Generator())
	memory(plugin)
	defer plugin.Close(context.Background())

	fmt.Println(plugin.Generator().Failing(), len(plugin.Generator().Metrics()) > 0)
	// Output:
	// <nil>
	// <nil> true
}

// An id for something that is no row of the handle.
func ExamplePlugin_Next() {
	plugin := leasing()
	memory(plugin)
	defer plugin.Close(context.Background())

	id, err := plugin.Next(context.Background())
	fmt.Println(id > 0, err)
	// Output: true <nil>
}

func ExamplePlugin_Fill() {
	plugin := leasing()
	memory(plugin)
	defer plugin.Close(context.Background())

	ids := make([]int64, 3)
	err := plugin.Fill(context.Background(), ids)
	fmt.Println(ids[0] < ids[1] && ids[1] < ids[2], err)
	// Output: true <nil>
}
