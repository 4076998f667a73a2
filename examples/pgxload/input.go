package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var columns = []string{"order", "placed_at", "customer", "email", "sku", "product", "quantity", "unit_price"}

type order struct {
	ID       sqltype.ID
	Number   string
	Customer string
	PlacedAt time.Time
	Lines    []line
	at       int // where it begins in the file
}

type line struct {
	ID, OrderID  sqltype.ID
	Position     int
	SKU, Product string
	Quantity     int64
	UnitPrice    string // as it stands in the file: numeric takes it exactly
}

// input is a CSV that can be read more than once.
type input struct {
	name string
	open func() (io.ReadCloser, error)
}

// count reads the whole file once, so that what is wrong with it is told before
// the database is touched.
func (in input) count() (orders, lines int, err error) {
	for o, err := range in.orders() {
		if err != nil {
			return 0, 0, err
		}
		orders++
		lines += len(o.Lines)
	}
	if orders == 0 {
		return 0, 0, fmt.Errorf("%s: no orders below the header", in.name)
	}
	return orders, lines, nil
}

// withKeys gives the orders of the file under the keys in ids, in their order: so
// each row has the same key however often it is read.
func (in input) withKeys(ids []int64) iter.Seq2[order, error] {
	return func(yield func(order, error) bool) {
		rest := ids
		for o, err := range in.orders() {
			if err == nil && len(rest) < 1+len(o.Lines) {
				err = fmt.Errorf("%s:%d: the file has grown since it was counted", in.name, o.at)
			}
			if err != nil {
				yield(order{}, err)
				return
			}
			o.ID = sqltype.ID(rest[0])
			for i := range o.Lines {
				o.Lines[i].ID, o.Lines[i].OrderID = sqltype.ID(rest[1+i]), o.ID
			}
			rest = rest[1+len(o.Lines):]
			if !yield(o, nil) {
				return
			}
		}
		if len(rest) > 0 {
			yield(order{}, fmt.Errorf("%s: the file has shrunk since it was counted: %d rows are missing", in.name, len(rest)))
		}
	}
}

// orders reads the file, one order at a time: the rows of an order stand
// together. An error names the file, the line and the column, and is the last.
func (in input) orders() iter.Seq2[order, error] {
	return func(yield func(order, error) bool) {
		f, err := in.open()
		if err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			yield(order{}, fmt.Errorf("%s: %w", in.name, err))
			return
		}
		defer f.Close()
		rows := csv.NewReader(f)
		rows.FieldsPerRecord = len(columns)
		header, err := rows.Read()
		if err == nil && !slices.Equal(header, columns) {
			err = fmt.Errorf("%s:1: the columns are %.200q, want %q", in.name, strings.Join(header, ","), strings.Join(columns, ","))
		} else if err != nil {
			err = in.fault(err)
		}
		if err != nil {
			yield(order{}, err)
			return
		}
		var current order
		for {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(order{}, in.fault(err))
				return
			}
			if row[0] != current.Number {
				if current.at > 0 && !yield(current, nil) {
					return
				}
				current = order{}
			}
			if err := current.add(row, rows); err != nil {
				yield(order{}, fmt.Errorf("%s:%w", in.name, err))
				return
			}
		}
		if current.at > 0 {
			yield(current, nil)
		}
	}
}

// fault is for what is no CSV.
func (in input) fault(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: empty, not even a header", in.name)
	case errors.As(err, &parse):
		return fmt.Errorf("%s:%d: %w", in.name, parse.StartLine, parse.Err)
	}
	return fmt.Errorf("%s: %w", in.name, err)
}

var price = regexp.MustCompile(`^\d{1,10}\.\d\d$`)

func (o *order) add(row []string, rows *csv.Reader) error {
	fault := func(column int, want string) error {
		l, c := rows.FieldPos(column)
		return fmt.Errorf("%d:%d: %s %.60q: want %s", l, c, columns[column], row[column], want)
	}
	for i, v := range row {
		if v == "" {
			return fault(i, "a value")
		}
	}
	placed, err := time.Parse(time.RFC3339, row[1])
	if err != nil {
		return fault(1, "a time like 2026-11-21T15:04:05Z")
	}
	quantity, err := strconv.ParseInt(row[6], 10, 32)
	if err != nil || quantity < 1 {
		return fault(6, "a whole number above 0")
	}
	if !price.MatchString(row[7]) {
		return fault(7, "an amount like 12.50")
	}
	if o.at == 0 {
		o.at, _ = rows.FieldPos(0)
		o.Number, o.Customer, o.PlacedAt = row[0], row[2], placed
	}
	o.Lines = append(o.Lines, line{Position: len(o.Lines) + 1, SKU: row[4], Product: row[5], Quantity: quantity, UnitPrice: row[7]})
	return nil
}
