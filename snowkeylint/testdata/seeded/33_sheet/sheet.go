// Package sheet reads stock lists that suppliers edit in a spreadsheet.
package sheet

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Item struct {
	ID     sqltype.ID
	Pieces int
	Price  float64
}

// Write writes items. The ID is text, so that a spreadsheet does not round it.
func Write(out io.Writer, items []Item) error {
	w := csv.NewWriter(out)
	for _, it := range items {
		err := w.Write([]string{"#" + it.ID.String(), strconv.Itoa(it.Pieces), strconv.FormatFloat(it.Price, 'f', 2, 64)}) // OK 78: text
		if err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// Read reads items. Some spreadsheets write long numbers as 1.99657E+18.
func Read(in io.Reader) ([]Item, error) {
	var items []Item
	for r := csv.NewReader(in); ; {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
		it, err := parse(row)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(items)+1, err)
		}
		items = append(items, it)
	}
}

func parse(row []string) (it Item, err error) {
	if len(row) != 3 {
		return it, errors.New("want 3 columns")
	}
	id, err := strconv.ParseFloat(row[0], 64) // FAULT 100 snownarrow: a key parsed as a float; CyrusNuevoDia/CSV.js#8
	if err != nil {
		return it, err
	}
	it.ID = sqltype.ID(id)                                 // ALSO 100: converted here
	if it.Pieces, err = strconv.Atoi(row[1]); err != nil { // OK 79: pieces, not a key
		return it, err
	}
	it.Price, err = strconv.ParseFloat(row[2], 64) // OK 80: a price
	return it, err
}
