package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// summary is one order as the table and the JSON show it.
type summary struct {
	ID         sqltype.ID `json:"id"`
	Number     string     `json:"number"`
	PlacedAt   time.Time  `json:"placedAt"`
	CustomerID int64      `json:"customerId,string"`
	Customer   string     `json:"customer"`
	Lines      int        `json:"lines"`
	Total      int64      `json:"totalCents"`
}

// report reads the newest orders back and shows them in three ways.
func report(db *gorm.DB, layout core.Layout, w io.Writer) error {
	var orders []Order
	if err := db.Preload("Lines").Preload("Customer").Order("id DESC").Limit(5).Find(&orders).Error; err != nil {
		return fmt.Errorf("reading back: %w", oneLine(err))
	}
	if len(orders) == 0 {
		return nil
	}
	rows := make([]summary, len(orders))
	for i, o := range orders {
		rows[i] = summary{ID: o.ID, Number: o.Number, PlacedAt: o.PlacedAt.UTC(), CustomerID: o.CustomerID, Lines: len(o.Lines)}
		if o.Customer != nil {
			rows[i].Customer = o.Customer.Name
		}
		for _, l := range o.Lines {
			rows[i].Total += l.Quantity * l.UnitPrice
		}
	}
	fmt.Fprintln(w, "The newest orders, read back:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  id\tnumber\tplaced\tcustomer\tlines\ttotal")
	for _, r := range rows {
		fmt.Fprintf(table, "  %d\t%s\t%s\t%s\t%d\t%d.%02d\n", r.ID, r.Number, r.PlacedAt.Format(time.DateTime), r.Customer, r.Lines, r.Total/100, r.Total%100)
	}
	_ = table.Flush()

	fmt.Fprintln(w, "\nThe same rows as a browser gets them, every id a string:")
	for i, r := range rows {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s%s\n", either(i == 0, "[ ", "  "), text, either(i == len(rows)-1, " ]", ","))
	}

	id := rows[len(rows)-1].ID.Int64()
	apart, err := layout.Explain(id)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nThe id %d, taken apart (%s):\n%s%s", id, layout, layout.Diagram(), apart)
	return nil
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
