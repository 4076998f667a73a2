package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Every line comes back under its key and its order's, all of them different and
// all strings in JSON.
func TestRun(t *testing.T) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), gen, &out); err != nil {
		t.Fatal(err)
	}
	type line struct{ ID, OrderID, SKU string }
	var lines []line
	seen := map[string]bool{}
	for dec := json.NewDecoder(&out); dec.More(); {
		var l line
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		id, err := sqltype.Parse(l.ID)
		if err != nil || seen[l.ID] || seen[l.OrderID] && lines[len(lines)-1].OrderID != l.OrderID {
			t.Errorf("%+v, %v", l, err)
		}
		if parts, err := gen.Layout().Decode(id.Int64()); err != nil || parts.Worker != 1 {
			t.Errorf("%+v, %v", parts, err)
		}
		seen[l.ID], seen[l.OrderID] = true, true
		lines = append(lines, l)
	}
	if len(lines) != 3 || len(seen) != 5 || lines[0].SKU != "tea" || lines[0].OrderID != lines[1].OrderID || lines[2].SKU != "jam" {
		t.Errorf("%+v", lines)
	}
}
