package data

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var columns = [...]string{"order", "placed_at", "customer", "email", "sku", "product", "quantity", "unit_price"} //nolint:gochecknoglobals // constant

// Order is one order of a file. Its rows are adjacent.
type Order struct {
	Row      int // its first line in the file
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

// Orders reads the file, one order at a time. An error names the file, the line and the
// column, and is the last value.
func (f File) Orders() iter.Seq2[*Order, error] {
	return func(yield func(*Order, error) bool) {
		if err := f.read(func(o *Order) bool { return yield(o, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (f File) read(yield func(*Order) bool) error {
	file, err := f.Open()
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	defer file.Close()
	text := bufio.NewReader(file)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" { // a spreadsheet writes it
		_, _ = text.Discard(3)
	}
	r := reader{rows: csv.NewReader(text), began: map[string]int{}, customers: map[string]*Customer{}}
	header, err := r.rows.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: empty", f.Name)
	}
	if err == nil && !slices.Equal(header, columns[:]) {
		err = fmt.Errorf("1: the columns are %.60q, want %q", strings.Join(header, ","), strings.Join(columns[:], ","))
	}
	for err == nil {
		var row []string
		if row, err = r.rows.Read(); err != nil {
			break
		}
		before := r.order
		if err = r.add(row); err == nil && before != nil && before != r.order && !yield(before) {
			return nil
		}
	}
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		return fmt.Errorf("%s:%d: %w", f.Name, parse.StartLine, parse.Err)
	case !errors.Is(err, io.EOF) && r.order == nil && len(header) == 0:
		return fmt.Errorf("%s: %w", f.Name, err)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%s:%w", f.Name, err)
	case r.order == nil:
		return fmt.Errorf("%s: no orders below the header", f.Name)
	}
	yield(r.order)
	return nil
}

type reader struct {
	rows      *csv.Reader
	order     *Order               // the current one
	began     map[string]int       // order number → its first line
	customers map[string]*Customer // by email
}

// add adds a row to the current order, or begins another one.
func (r *reader) add(row []string) error {
	fault := func(column int, format string, args ...any) error {
		line, c := r.rows.FieldPos(column)
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
	if r.order == nil || r.order.Number != row[0] {
		if line, ok := r.began[key]; ok {
			return fault(0, "began on line %d: the rows of an order must be adjacent", line)
		}
		line, _ := r.rows.FieldPos(0)
		r.began[key] = line
		r.order = &Order{Row: line, Number: row[0], PlacedAt: placed.UTC(), Customer: r.customer(row[2], row[3])}
	}
	if c := r.order.Customer; c.Email != row[3] || c.Name != row[2] {
		return fault(2, "differs from %q <%s>, as on a line before", c.Name, c.Email)
	}
	if !r.order.PlacedAt.Equal(placed) {
		return fault(1, "differs from line %d", r.order.Row)
	}
	r.order.Lines = append(r.order.Lines, Line{SKU: row[4], Product: row[5], Quantity: quantity, Cents: cents})
	return nil
}

func (r *reader) customer(name, email string) *Customer {
	key := strings.ToLower(email)
	if r.customers[key] == nil {
		r.customers[key] = &Customer{Name: name, Email: email}
	}
	return r.customers[key]
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
