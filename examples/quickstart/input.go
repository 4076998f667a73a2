package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
)

var columns = [...]string{"order", "placed_at", "customer", "email", "sku", "product", "quantity", "unit_price"} //nolint:gochecknoglobals // constant

// input is what a file holds: its orders, each with its lines and its customer,
// in the order of the file.
type input struct {
	orders    []Order
	customers map[string]*Customer // by email
	lines     int
}

// read takes in the whole file before anything is written, so that a broken row
// leaves nothing half-written. An error names the file, the line and the column.
func read(name string, r io.Reader) (*input, error) {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = len(columns)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return nil, at(name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // as spreadsheets write it
	if !slices.Equal(header, columns[:]) {
		return nil, fmt.Errorf("%s:1: the columns are %q, want %q", name, header, columns)
	}
	in := &input{customers: map[string]*Customer{}}
	seen := map[string]int{} // order number → line on which it began
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, at(name, err)
		}
		if err := in.add(row, seen, rows); err != nil {
			return nil, fmt.Errorf("%s:%w", name, err)
		}
	}
	if len(in.orders) == 0 {
		return nil, fmt.Errorf("%s: no orders below the header", name)
	}
	return in, nil
}

// at puts the file's name in place of what encoding/csv calls a record.
func at(name string, err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: empty, not even a header", name)
	case errors.As(err, &parse):
		return fmt.Errorf("%s:%d: %w", name, parse.Line, parse.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// add takes in one row: a line of the current order, or the first of another.
func (in *input) add(row []string, seen map[string]int, rows *csv.Reader) error {
	line, _ := rows.FieldPos(0)
	fault := func(column int, want string) error {
		l, c := rows.FieldPos(column)
		return fmt.Errorf("%d:%d: %s %q: %s", l, c, columns[column], row[column], want)
	}
	for i, value := range row {
		if value == "" {
			return fault(i, "must not be empty")
		}
		if len(value) > 190 {
			return fault(i, "is longer than 190 bytes")
		}
	}
	placed, err := time.Parse(time.RFC3339, row[1])
	if err != nil {
		return fault(1, "want a time like 2026-11-21T15:04:05Z")
	}
	if a, err := mail.ParseAddress(row[3]); err != nil || a.Address != row[3] {
		return fault(3, "is not an email address")
	}
	quantity, err := strconv.ParseInt(row[6], 10, 32)
	if err != nil || quantity < 1 {
		return fault(6, "want a whole number from 1")
	}
	cents, err := parseCents(row[7])
	if err != nil {
		return fault(7, err.Error())
	}
	current := len(in.orders) - 1
	if current < 0 || in.orders[current].Number != row[0] {
		if began, again := seen[row[0]]; again {
			return fault(0, fmt.Sprintf("goes on here but began on line %d: an order's rows must stand together", began))
		}
		seen[row[0]] = line
		in.orders = append(in.orders, Order{Number: row[0], PlacedAt: placed.UTC(), Customer: in.customer(row[2], row[3])})
		current++
	} else if o := &in.orders[current]; o.Customer.Email != row[3] || !o.PlacedAt.Equal(placed) {
		return fault(0, fmt.Sprintf("has another customer or time here than on line %d", seen[row[0]]))
	}
	o := &in.orders[current]
	o.Lines = append(o.Lines, OrderLine{Position: len(o.Lines) + 1, SKU: row[4], Product: row[5], Quantity: quantity, UnitPrice: cents})
	in.lines++
	return nil
}

func (in *input) customer(name, email string) *Customer {
	c, ok := in.customers[email]
	if !ok {
		c = &Customer{Name: name, Email: email}
		in.customers[email] = c
	}
	return c
}

// parseCents reads an amount of money exactly: no float ever holds it.
func parseCents(s string) (int64, error) {
	whole, cents, _ := strings.Cut(s, ".")
	w, errWhole := strconv.ParseUint(whole, 10, 40)
	c, errCents := strconv.ParseUint(cents, 10, 8)
	if errWhole != nil || errCents != nil || len(cents) != 2 {
		return 0, errors.New("want an amount like 12.50")
	}
	return int64(w*100 + c), nil
}
