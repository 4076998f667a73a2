package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/key"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Every order is read back with its lines. Each id is a string of its type, of the layout, and there
// once.
func TestRun(t *testing.T) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), gen, &out); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	take := func(text string, id sqltype.ID, err error) {
		if _, errDecode := core.Twitter().Decode(id.Int64()); err != nil || errDecode != nil || id < 1<<53 || seen[text] {
			t.Errorf("%q: %v, %v, or twice", text, err, errDecode)
		}
		seen[text] = true
	}
	summary := ""
	for dec := json.NewDecoder(&out); dec.More(); {
		var o struct {
			ID, Customer string
			Edges        struct {
				Lines []struct{ ID, OrderID, SKU string }
			}
		}
		if err := dec.Decode(&o); err != nil {
			t.Fatal(err)
		}
		var order key.Order
		err := order.UnmarshalText([]byte(o.ID))
		take(o.ID, order.ID(), err)
		summary += o.Customer + ":"
		for _, l := range o.Edges.Lines {
			id, err := sqltype.Parse(l.ID)
			take(l.ID, id, err)
			if l.OrderID != o.ID {
				t.Errorf("line %+v in order %s", l, o.ID)
			}
			summary += " " + l.SKU
		}
		summary += "; "
	}
	if summary != "Ada: tea cup a gift; Bob: jam; " {
		t.Error(summary)
	}
}
