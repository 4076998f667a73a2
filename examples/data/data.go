// Package data reads files of orders, and holds the one that the examples load by default.
package data

import (
	"bytes"
	_ "embed" // for go:embed
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed orders.csv
var orders []byte

var columns = []string{"order", "placed_at", "customer", "email", "sku", "product", "quantity", "unit_price"}

// Order is one order of a file. Its rows are adjacent.
type Order struct {
	Number   string
	PlacedAt time.Time
	Customer *Customer // the same struct in all orders of one email
	Lines    []Line
}

// Customer is a customer of a file.
type Customer struct{ Email, Name string }

// Line is one row of a file.
type Line struct {
	SKU, Product    string
	Quantity, Cents int64
}

// Read reads a CSV of orders. An empty path means the examples' own file. An error names the file,
// the line and the column.
func Read(path string) (all []*Order, err error) {
	text := orders
	if path != "" {
		if text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))) // a spreadsheet writes that mark
	table, err := rows.ReadAll()
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		return nil, fmt.Errorf("%s:%d: %w", path, parse.StartLine, parse.Err)
	case len(table) < 2:
		return nil, fmt.Errorf("%s: no orders", path)
	case !slices.Equal(table[0], columns):
		return nil, fmt.Errorf("%s:1: the columns are %.60q, want %q", path,
			strings.Join(table[0], ","), strings.Join(columns, ","))
	}
	customers := map[string]*Customer{}
	for i, row := range table[1:] {
		placed, line, column, reason := parseRow(row)
		if reason != "" {
			return nil, fmt.Errorf("%s:%d: %s %.60q: %s", path, i+2, columns[column], row[column], reason)
		}
		email := strings.ToLower(row[3])
		if customers[email] == nil {
			customers[email] = &Customer{Email: row[3], Name: row[2]}
		}
		if n := len(all); n == 0 || all[n-1].Number != row[0] {
			all = append(all, &Order{Number: row[0], PlacedAt: placed, Customer: customers[email]})
		}
		o := all[len(all)-1]
		o.Lines = append(o.Lines, line)
	}
	return all, nil
}

// parseRow returns the reason why a column is wrong, or "".
func parseRow(row []string) (placed time.Time, line Line, column int, reason string) {
	if column = slices.Index(row, ""); column >= 0 {
		return placed, line, column, "must not be empty"
	}
	placed, err := time.Parse(time.RFC3339, row[1])
	if err != nil {
		return placed, line, 1, "want a time like 2026-11-21T15:04:05Z"
	}
	line = Line{SKU: row[4], Product: row[5]}
	if line.Quantity, err = strconv.ParseInt(row[6], 10, 64); err != nil || line.Quantity < 1 {
		return placed, line, 6, "want a whole number from 1"
	}
	whole, cents, _ := strings.Cut(row[7], ".") // exactly, without floats
	w, errWhole := strconv.ParseUint(whole, 10, 40)
	c, errCents := strconv.ParseUint(cents, 10, 8)
	if errWhole != nil || errCents != nil || len(cents) != 2 {
		return placed, line, 7, "want an amount like 12.50"
	}
	line.Cents = int64(w*100 + c)
	return placed.UTC(), line, 0, ""
}

// Touch creates a file of SQLite unless it exists. SQLite's own error for a file that cannot be
// opened is "out of memory".
func Touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
