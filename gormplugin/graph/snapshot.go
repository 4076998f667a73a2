package graph

import (
	"reflect"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// snapshot copies the rows, before anything is set, and the structs that they embed behind
// pointers. restore copies them back, which also undoes the changes of hooks and gorm.
func (g *graph) snapshot() (restore func()) {
	var embedded []struct{ at, saved reflect.Value }
	copies := make(map[*model]reflect.Value, len(g.models))
	for _, m := range g.models {
		copies[m] = reflect.MakeSlice(reflect.SliceOf(m.schema.ModelType), m.rows, m.rows)
	}
	for _, n := range g.order {
		n.model.rows--
		n.saved = copies[n.model].Index(n.model.rows)
		n.saved.Set(n.row)
		for _, path := range n.model.embedded {
			if p := rows.Field(n.row, path); p.IsValid() && !p.IsNil() {
				saved := reflect.New(p.Type().Elem()).Elem()
				saved.Set(p.Elem())
				embedded = append(embedded, struct{ at, saved reflect.Value }{p.Elem(), saved})
			}
		}
	}
	return func() {
		for _, n := range g.order {
			n.row.Set(n.saved)
		}
		for _, e := range embedded {
			e.at.Set(e.saved)
		}
	}
}
