package graph

import (
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Rows that other transactions may write too lock what they collide with. Transactions that lock
// in one order do not deadlock, so such rows are sorted.

// sortShared sorts parents and the far sides of many2many by the columns that their tags declare
// unique, and then by the keys that the caller has set. Rows of which neither is known keep their
// order in the first attempt, and are sorted by all columns in the next. Rows that refer to each
// other keep theirs.
func (g *graph) sortShared(batch []*node) []*node {
	if len(batch) < 2 || !slices.ContainsFunc(batch, func(n *node) bool { return n.role == isShared }) {
		return batch
	}
	texts := make(map[*node]string, len(batch))
	for _, n := range batch {
		if n.role != isShared || slices.ContainsFunc(n.waiting, func(child *node) bool { return child.group == n.group }) {
			return batch
		}
		texts[n] = n.sortText(g.attempt > 1)
	}
	return slices.SortedStableFunc(slices.Values(batch), func(a, b *node) int { return strings.Compare(texts[a], texts[b]) })
}

// sortText returns a text that is equal for equal rows, also under a collation that ignores case
// and trailing spaces.
func (n *node) sortText(all bool) string {
	var b strings.Builder
	add := func(f *schema.Field) {
		b.WriteString(strings.ToLower(strings.TrimRight(rows.Text(rows.Field(n.row, f.StructField.Index)), " ")))
		b.WriteByte(0)
	}
	for _, set := range n.model.unique {
		for _, f := range set.Fields {
			add(f)
		}
	}
	if all && len(n.model.unique) == 0 {
		for _, f := range n.model.schema.Fields {
			if !f.PrimaryKey && f.DBName != "" && (f.DataType == schema.String || f.DataType == schema.Int || f.DataType == schema.Uint) {
				add(f)
			}
		}
	}
	if !n.keyGiven {
		for _, f := range n.model.schema.PrimaryFields {
			add(f)
		}
	}
	return b.String()
}

// sort sorts the rows of a statement again, because hooks may have changed them.
func (ins *insertion) sort() {
	sorted := ins.w.sortShared(ins.rows)
	if slices.Equal(sorted, ins.rows) {
		return
	}
	ins.rows = sorted
	list := reflect.ValueOf(ins.dest).Elem()
	for i, n := range sorted {
		list.Index(i).Set(n.row.Addr())
	}
}
