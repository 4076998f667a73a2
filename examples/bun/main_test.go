package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Every order comes back with its lines, under keys that are all different and all
// strings in JSON.
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
	take := func(text string) {
		id, err := sqltype.Parse(text)
		if err != nil || seen[text] {
			t.Errorf("%q: %v, or twice", text, err)
		}
		if parts, err := gen.Layout().Decode(id.Int64()); err != nil || parts.Worker != 1 {
			t.Errorf("%+v, %v", parts, err)
		}
		seen[text] = true
	}
	for dec := json.NewDecoder(&out); dec.More(); {
		var o struct {
			ID    string
			Lines []struct{ ID, OrderID string }
		}
		if err := dec.Decode(&o); err != nil {
			t.Fatal(err)
		}
		take(o.ID)
		for _, l := range o.Lines {
			take(l.ID)
			if l.OrderID != o.ID {
				t.Errorf("%+v", o)
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d rows, want 2 orders and 4 lines", len(seen))
	}
}
