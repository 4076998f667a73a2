package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
)

// report reads the newest order back, and prints it as JSON, its key decoded, and what was written.
func report(db *gorm.DB, layout core.Layout, w io.Writer, written graph.Result, took time.Duration) error {
	var orders []Order
	if err := db.Preload("Lines").Preload("Customer").Order("id DESC").Limit(1).Find(&orders).Error; err != nil {
		return err
	}
	text, err := json.Marshal(orders[0])
	if err != nil {
		return err
	}
	decoded, err := layout.Explain(orders[0].ID.Int64())
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "The newest order as JSON: ids are strings.\n%s\n\nIts key, decoded:\n%s\n", text, decoded)

	rows, inserts := int64(0), 0
	for _, t := range written.Tables {
		fmt.Fprintf(w, "%s: %d rows, INSERTs: %d\n", t.Table, t.RowsAffected, t.Inserts)
		rows, inserts = rows+t.RowsAffected, inserts+t.Inserts
	}
	_, err = fmt.Fprintf(w, "Written: %d rows by %d INSERTs in one transaction, %v, %.0f rows/s\n",
		rows, inserts, took.Round(time.Millisecond), float64(rows)/took.Seconds())
	return err
}
