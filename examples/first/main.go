// Command first writes two notes, whose keys are Snowflake ids, into an SQLite file.
//
//	go run ./examples/first
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Note struct {
	ID   sqltype.ID `json:"id"`
	Text string     `json:"text"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	db, err := gorm.Open(sqlite.Open("first.sqlite"), &gorm.Config{})
	if err != nil {
		return err
	}
	var plugin gormplugin.Plugin
	if err := db.Use(&plugin); err != nil { // leases a worker ID from db
		return err
	}
	defer plugin.Close(ctx) // releases the worker ID
	if err := gormplugin.Migrator(db).AutoMigrate(&Note{}); err != nil {
		return err
	}
	notes := []Note{{Text: "first"}, {Text: "second"}}
	if err := db.WithContext(ctx).Create(&notes).Error; err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(notes)
}
