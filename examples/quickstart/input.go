package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/examples/data"
)

var columns = [...]string{"order", "placed_at", "customer", "email", "sku", "product", "quantity", "unit_price"} //nolint:gochecknoglobals // constant

// readFile reads the whole file before anything is written. An empty path means the example's file.
func readFile(path string) ([]*Order, error) {
	if path == "" {
		return read("examples/data/orders.csv", bytes.NewReader(data.Orders))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("-in %w", err)
	}
	defer f.Close()
	return read(path, f)
}

// read reads orders, each with its customer and lines. An error names the file, the line and
// the column.
func read(name string, r io.Reader) ([]*Order, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))) // a spreadsheet writes this mark
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: empty", name)
	}
	if err == nil && !slices.Equal(header, columns[:]) {
		err = fmt.Errorf("1: the columns are %.60q, want %q", strings.Join(header, ","), strings.Join(columns[:], ","))
	}
	in := input{rows: rows, began: map[string]int{}, customers: map[string]*Customer{}}
	for err == nil {
		var row []string
		if row, err = rows.Read(); err == nil {
			err = in.add(row)
		}
	}
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		return nil, fmt.Errorf("%s:%d: %w", name, parse.StartLine, parse.Err)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s:%w", name, err)
	case len(in.orders) == 0:
		return nil, fmt.Errorf("%s: no orders below the header", name)
	}
	return in.orders, nil
}

type input struct {
	rows      *csv.Reader
	orders    []*Order
	began     map[string]int       // order number → line on which it began
	customers map[string]*Customer // by email
}

// add adds a line to the current order, or begins another one.
func (in *input) add(row []string) error {
	fault := func(column int, format string, args ...any) error {
		line, c := in.rows.FieldPos(column)
		return fmt.Errorf("%d:%d: %s %s: %s", line, c, columns[column], short(row[column]), fmt.Sprintf(format, args...))
	}
	for i, value := range row {
		limit := 190
		if i == 0 || i == 4 {
			limit = 64
		}
		switch {
		case value == "" || strings.TrimSpace(value) != value:
			return fault(i, "must not be empty, nor begin or end with a space")
		case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
			return fault(i, "must be UTF-8 without control characters")
		case utf8.RuneCountInString(value) > limit:
			return fault(i, "is longer than %d characters", limit)
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
	if err != nil || quantity < 1 || quantity > 1_000_000 {
		return fault(6, "want a whole number from 1 to 1000000")
	}
	cents, err := parseCents(row[7])
	if err != nil {
		return fault(7, "want an amount like 12.50, at most 999999.99")
	}
	key := strings.ToLower(row[0]) // some databases ignore case
	if n := len(in.orders); n == 0 || in.orders[n-1].Number != row[0] {
		if line, ok := in.began[key]; ok {
			return fault(0, "began on line %d: the rows of an order must be adjacent", line)
		}
		in.began[key], _ = in.rows.FieldPos(0)
		in.orders = append(in.orders, &Order{Number: row[0], PlacedAt: placed.UTC(), Customer: in.customer(row[2], row[3])})
	}
	o := in.orders[len(in.orders)-1]
	if c := o.Customer; c.Email != row[3] || c.Name != row[2] {
		return fault(2, "differs from %q <%s>, as on a line before", c.Name, c.Email)
	}
	if !o.PlacedAt.Equal(placed) {
		return fault(1, "differs from line %d", in.began[key])
	}
	o.Lines = append(o.Lines, OrderLine{Position: len(o.Lines) + 1, SKU: row[4], Product: row[5], Quantity: quantity, UnitPrice: cents})
	return nil
}

// customer returns one struct per email: one row in the database.
func (in *input) customer(name, email string) *Customer {
	key := strings.ToLower(email)
	if in.customers[key] == nil {
		in.customers[key] = &Customer{Name: name, Email: email}
	}
	return in.customers[key]
}

// parseCents reads an amount of money exactly, without floats.
func parseCents(s string) (int64, error) {
	whole, cents, _ := strings.Cut(s, ".")
	w, errWhole := strconv.ParseUint(whole, 10, 40)
	c, errCents := strconv.ParseUint(cents, 10, 8)
	if errWhole != nil || errCents != nil || len(cents) != 2 || w > 999_999 {
		return 0, strconv.ErrSyntax
	}
	return int64(w*100 + c), nil
}

// short quotes a value, shortened to 60 characters.
func short(value string) string {
	if r := []rune(value); len(r) > 60 {
		return strconv.Quote(string(r[:60])) + "…"
	}
	return strconv.Quote(value)
}
