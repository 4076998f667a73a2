package gormplugin

import (
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"
)

// Rows that others may be writing too lock what they collide with. Transactions that lock in
// one order do not wait for each other in a circle, so such rows are sorted.

// sortShared sorts what others belong to and the far sides of many2many by the columns that
// their tags declare unique, and then by the keys that were set by the caller. Rows of which
// nothing of the kind is known keep their order in the first attempt, and are sorted by all that
// they hold in the next. Rows that refer to each other keep theirs.
func (g *graph) sortShared(rows []*node) []*node {
	if len(rows) < 2 || !slices.ContainsFunc(rows, func(n *node) bool { return n.role == isOther }) {
		return rows
	}
	type sortable struct {
		n    *node
		text string
	}
	all := make([]sortable, len(rows))
	for i, n := range rows {
		if n.role != isOther || slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.group == n.group }) {
			return rows
		}
		all[i] = sortable{n, n.collidesBy(g.attempt > 1)}
	}
	slices.SortStableFunc(all, func(a, b sortable) int { return strings.Compare(a.text, b.text) })
	sorted := make([]*node, len(rows))
	for i := range all {
		sorted[i] = all[i].n
	}
	return sorted
}

// collidesBy is a text that equal rows share, as far as collations go that do not tell A from a,
// nor count spaces at the end.
func (n *node) collidesBy(all bool) string {
	var b strings.Builder
	add := func(field reflect.Value) {
		b.WriteString(strings.ToLower(strings.TrimRight(idText(field), " ")))
		b.WriteByte(0)
	}
	for _, set := range n.shape.unique {
		for _, f := range set.fields {
			add(fieldAt(n.row, f.StructField.Index))
		}
	}
	if all && len(n.shape.unique) == 0 {
		for _, f := range n.shape.schema.Fields {
			if !f.PrimaryKey && f.DBName != "" && (f.DataType == schema.String || f.DataType == schema.Int || f.DataType == schema.Uint) {
				add(fieldAt(n.row, f.StructField.Index))
			}
		}
	}
	if !n.fresh {
		for _, f := range n.shape.schema.PrimaryFields {
			add(fieldAt(n.row, f.StructField.Index))
		}
	}
	return b.String()
}

// sort puts the rows of a statement in order once more, for hooks may have changed them.
func (c *chain) sort() {
	rows := c.w.sortShared(c.rows)
	if slices.Equal(rows, c.rows) {
		return
	}
	c.rows = rows
	list := reflect.ValueOf(c.dest).Elem()
	for i, n := range rows {
		list.Index(i).Set(n.row.Addr())
	}
}
