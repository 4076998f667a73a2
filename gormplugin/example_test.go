package gormplugin_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Customer struct {
	ID   sqltype.ID // no tag needed
	Name string
}

type Invoice struct {
	ID         int64 `gorm:"primaryKey;autoIncrement:false;snowflake:invoices"`
	CustomerID sqltype.ID
	Customer   *Customer
}

func Example() {
	db, err := gorm.Open(sqlite.Open("file::memory:"), &gorm.Config{}) // your database here
	if err != nil {
		fmt.Println(err)
		return
	}
	if pool, err := db.DB(); err == nil {
		pool.SetMaxOpenConns(1) // each connection has its own database
	}
	rows, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rows.Close()
	invoices, err := core.New(core.Config{Worker: core.Fixed(4)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer invoices.Close()

	plugin := gormplugin.New(gormplugin.Config{
		Source: rows,
		Named:  map[string]sqltype.Source{"invoices": invoices},
		Models: []any{Customer{}, Invoice{}},
	})
	if err := db.Use(plugin); err != nil {
		fmt.Println(err)
		return
	}

	invoice := Invoice{Customer: &Customer{Name: "Ada"}}
	err = errors.Join(db.AutoMigrate(&Customer{}, &Invoice{}), db.WithContext(context.Background()).Create(&invoice).Error)
	parts, _ := core.Twitter().Decode(invoice.ID)
	fmt.Println(invoice.CustomerID == invoice.Customer.ID, parts.Worker, err)
	// Output: true 4 <nil>
}

func ExampleValidate() {
	type Note struct {
		ID int64 `gorm:"primaryKey;snowflake"`
	}
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gormplugin.Validate(db, Note{}))
	// Output: gormplugin: Note.ID: the key of type int64 is auto-increment to gorm: add autoIncrement:false to its gorm tag "primaryKey;snowflake"
}

func ExampleModel() {
	type Page struct {
		gormplugin.Model
		Title string
	}
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gormplugin.Validate(db, Page{})) // its key is no auto-increment
	// Output: <nil>
}
