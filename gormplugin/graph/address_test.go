package graph_test

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Nut has the address of its shell, and that has the address of its skin.
type Nut struct {
	Shell Shell
	ID    sqltype.ID
}

type Shell struct {
	Skin  Skin
	ID    sqltype.ID
	NutID sqltype.ID
}

type Skin struct {
	Colour  string
	ID      sqltype.ID
	ShellID sqltype.ID
}

// Rows of different models at one address are different rows, also when the
// graph is walked again.
func TestAssignRowsOfOneAddress(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	nuts := make([]Nut, 3)
	for i := range nuts {
		nuts[i].Shell.Skin.Colour = "brown"
	}
	must(t, graph.Assign(t.Context(), db, nuts))
	checkGraph(t, db, nuts)
	again := [3]Nut(nuts)
	if err := graph.Create(t.Context(), db, nuts); err != nil || [3]Nut(nuts) != again {
		t.Errorf("Create changed %+v to %+v, %v", again, nuts, err)
	}
}
