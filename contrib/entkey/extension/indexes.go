package extension

import (
	"slices"
	"strings"

	"entgo.io/ent/entc/gen"
)

// addIndexes adds an index for each foreign key that is not the first column of one. It has the name
// that ent gives to such an index of a schema.
func addIndexes(g *gen.Graph) {
	for _, node := range g.Nodes {
		for _, fk := range node.ForeignKeys {
			column := fk.Field.StorageKey()
			if fk.Field.Unique || fk.Edge.Rel.Type == gen.O2O || slices.ContainsFunc(node.Indexes, func(i *gen.Index) bool { return i.Columns[0] == column }) {
				continue // unique columns have an index
			}
			node.Indexes = append(node.Indexes, &gen.Index{Name: strings.ToLower(node.Name) + "_" + column, Columns: []string{column}})
		}
	}
}
