package typed

import (
	"encoding/json"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Customer is the key of a customer with a name, for logs.
type Customer struct {
	sqltype.ID `json:"id"` // FAULT 038 snowtype: the struct gets the methods of the embedded ID, and is a single string in JSON
	Name       string      `json:"name"`
}

// Totals returns the report of a month.
func Totals(entries []Entry, plans map[EntryID]PlanID) ([]byte, error) {
	type key sqltype.Key[Plan] // FAULT 039 snowtype: a type over Key inside a function has no methods either; https://sofunction.com/detail/127134.html
	type row struct {
		Plan  key   `json:"plan"` // ALSO 039: a field of it
		Cents int64 `json:"cents"`
	}
	sums := map[key]int64{}
	for _, e := range entries {
		sums[key(plans[e.ID])] += e.Cents
	}
	rows := make([]row, 0, len(sums))
	for k, cents := range sums {
		rows = append(rows, row{Plan: k, Cents: cents})
	}
	return json.Marshal(rows)
}
