package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var columns = [...]string{"order", "placed_at", "customer", "email", "sku", "product", "quantity", "unit_price"} //nolint:gochecknoglobals // constant

// input is what a file holds: its orders, each with its lines and its customer,
// in the order of the file.
type input struct {
	orders    []Order
	customers map[string]*Customer // by email in lower case
	lines     int
}

// What a row may hold, so that no database refuses it when half of the orders
// are written. Characters, as databases count them.
const (
	maxCode     = 64  // an order's number, a SKU
	maxText     = 190 // a name, an email, a product
	maxLines    = 10_000
	maxQuantity = 1_000_000
	maxCents    = 99_999_999
)

// read takes in the whole file before anything is written, so that a broken row
// leaves nothing half-written. An error names the file, the line and the column.
func read(name string, r io.Reader) (*input, error) {
	text := bufio.NewReader(r)
	if mark, err := text.Peek(3); err == nil && string(mark) == "\ufeff" { // as spreadsheets write it
		_, _ = text.Discard(len(mark))
	}
	rows := csv.NewReader(text)
	rows.FieldsPerRecord = -1
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return nil, at(name, err)
	}
	if !slices.Equal(header, columns[:]) {
		return nil, fmt.Errorf("%s:1: the columns are %s, want %q", name, quoted(strings.Join(header, ",")), strings.Join(columns[:], ","))
	}
	rows.FieldsPerRecord = len(columns)
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

// at puts the file's name and the line at which the row began before the error.
func at(name string, err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: empty, not even a header", name)
	case errors.As(err, &parse):
		return fmt.Errorf("%s:%d: %w", name, parse.StartLine, parse.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// quoted shows a value in a message, of which nobody wants to see a megabyte.
func quoted(value string) string {
	if short := []rune(value); len(short) > 60 {
		return strconv.Quote(string(short[:60])) + "…"
	}
	return strconv.Quote(value)
}

// check says what is wrong with the text of one field, or nothing.
func check(column int, value string) string {
	limit := maxText
	if column == 0 || column == 4 {
		limit = maxCode
	}
	switch {
	case value == "":
		return "must not be empty"
	case !utf8.ValidString(value):
		return "is not UTF-8"
	case strings.ContainsFunc(value, unicode.IsControl):
		return "has a control character"
	case strings.TrimSpace(value) != value:
		return "has a space at its beginning or end"
	case utf8.RuneCountInString(value) > limit:
		return fmt.Sprintf("is longer than %d characters", limit)
	}
	return ""
}

// add takes in one row: a line of the current order, or the first of another.
func (in *input) add(row []string, seen map[string]int, rows *csv.Reader) error {
	line, _ := rows.FieldPos(0)
	fault := func(column int, format string, args ...any) error {
		l, c := rows.FieldPos(column)
		return fmt.Errorf("%d:%d: %s %s: %s", l, c, columns[column], quoted(row[column]), fmt.Sprintf(format, args...))
	}
	for i, value := range row {
		if wrong := check(i, value); wrong != "" {
			return fault(i, "%s", wrong)
		}
	}
	placed, err := time.Parse(time.RFC3339, row[1])
	if err != nil || placed.UTC().Year() < 1000 || placed.UTC().Year() > 9999 {
		return fault(1, "want a time like 2026-11-21T15:04:05Z")
	}
	if a, err := mail.ParseAddress(row[3]); err != nil || a.Address != row[3] {
		return fault(3, "is not an email address")
	}
	quantity, err := strconv.ParseInt(row[6], 10, 64)
	if err != nil || quantity < 1 || quantity > maxQuantity {
		return fault(6, "want a whole number from 1 to %d", maxQuantity)
	}
	cents, err := parseCents(row[7])
	if err != nil {
		return fault(7, "%v", err)
	}
	number := strings.ToLower(row[0]) // some databases do not tell a from A
	current := len(in.orders) - 1
	if current < 0 || in.orders[current].Number != row[0] {
		if began, again := seen[number]; again {
			return fault(0, "goes on here but began on line %d: an order's rows must stand together", began)
		}
		customer := in.customer(row[2], row[3])
		if customer.Name != row[2] || customer.Email != row[3] {
			return fault(2, "has the email of %q <%s>", customer.Name, customer.Email)
		}
		seen[number] = line
		in.orders = append(in.orders, Order{Number: row[0], PlacedAt: placed.UTC(), Customer: customer})
		current++
	} else if o := &in.orders[current]; o.Customer.Email != row[3] || o.Customer.Name != row[2] || !o.PlacedAt.Equal(placed) {
		return fault(0, "has another customer or time here than on line %d", seen[number])
	}
	o := &in.orders[current]
	if len(o.Lines) == maxLines {
		return fault(0, "has more than %d lines", maxLines)
	}
	o.Lines = append(o.Lines, OrderLine{Position: len(o.Lines) + 1, SKU: row[4], Product: row[5], Quantity: quantity, UnitPrice: cents})
	in.lines++
	return nil
}

func (in *input) customer(name, email string) *Customer {
	key := strings.ToLower(email)
	c, ok := in.customers[key]
	if !ok {
		c = &Customer{Name: name, Email: email}
		in.customers[key] = c
	}
	return c
}

// parseCents reads an amount of money exactly: no float ever holds it.
func parseCents(s string) (int64, error) {
	whole, cents, _ := strings.Cut(s, ".")
	w, errWhole := strconv.ParseUint(whole, 10, 40)
	c, errCents := strconv.ParseUint(cents, 10, 8)
	if errWhole != nil || errCents != nil || len(cents) != 2 || w*100+c > maxCents {
		return 0, fmt.Errorf("want an amount like 12.50, at most %d.%02d", maxCents/100, maxCents%100)
	}
	return int64(w*100 + c), nil
}
