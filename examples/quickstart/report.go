package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
)

// report reads the newest orders back, and prints them, one as JSON, one key decoded, and
// what was written.
func report(db *gorm.DB, layout core.Layout, w io.Writer, written graph.Result, took time.Duration) error {
	var orders []Order
	if err := db.Preload("Lines").Preload("Customer").Order("id DESC").Limit(3).Find(&orders).Error; err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "id\tnumber\tcustomer\tlines\ttotal")
	for _, o := range orders {
		cents := int64(0)
		for _, l := range o.Lines {
			cents += l.Quantity * l.UnitPrice
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%d\t%d.%02d\n", o.ID, o.Number, o.Customer.Name, len(o.Lines), cents/100, cents%100)
	}
	if err := table.Flush(); err != nil {
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
	fmt.Fprintf(w, "\nThe first one as JSON: ids are strings.\n%s\n\nIts key, decoded:\n%s\n", text, decoded)

	rows, inserts := int64(0), 0
	for _, t := range written.Tables {
		fmt.Fprintf(w, "%s: %d rows, INSERTs: %d\n", t.Table, t.RowsAffected, t.Inserts)
		rows, inserts = rows+t.RowsAffected, inserts+t.Inserts
	}
	_, err = fmt.Fprintf(w, "Written: %d rows by %d INSERTs in one transaction, %v, %.0f rows/s\n",
		rows, inserts, took.Round(time.Millisecond), float64(rows)/took.Seconds())
	return err
}
