package gormplugin

import (
	"database/sql/driver"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"
)

// CycleError is returned by [Create] when rows refer to each other in a circle, and no foreign
// key in it may be NULL, so that none of them can be written first.
type CycleError struct {
	Tables []string // each refers to the next; the first stands at the end once more
}

func (e *CycleError) Error() string {
	return "gormplugin: the foreign keys of the rows form a cycle of tables: " + strings.Join(e.Tables, " → ") +
		"; let one of them be NULL (a pointer or a NullID, not tagged not null), or write one of the rows without its reference, and set that afterwards"
}

// edgeID is an edge in all walks.
type edgeID struct {
	child, parent *node
	links         *[]link
}

func (e *edge) id() edgeID { return edgeID{e.child, e.parent, e.links} }

// markLater marks the edges that are broken. A row that refers to its own key, which the
// database makes, is a circle too.
func (g *graph) markLater() error {
	clear(g.later)
	for i := range g.edges {
		e := &g.edges[i]
		if e.child == e.parent && e.child.state != written && slices.ContainsFunc(*e.links, func(l link) bool { return l.late }) && !g.breaks(e) {
			return cycleOf([]*edge{e})
		}
		if e.later = g.broken[e.id()]; e.later {
			if g.later == nil {
				g.later = map[*node][]edge{}
			}
			g.later[e.child] = append(g.later[e.child], *e)
		}
	}
	return nil
}

// breaks has a reference set by an UPDATE at the end, if the row can be written without it.
func (g *graph) breaks(e *edge) bool {
	s := e.child.shape.schema
	if e.child.role == isJoin || len(s.PrimaryFields) == 0 || !slices.ContainsFunc(*e.links, func(l link) bool { return l.from != nil && mayBeNull(l.to) }) {
		return false
	}
	if g.broken == nil {
		g.broken = map[edgeID]bool{}
	}
	g.broken[e.id()] = true
	e.later = true
	return true
}

// mayBeNull reports whether a foreign key that is zero in the struct is NULL in the table.
func mayBeNull(f *schema.Field) bool {
	if f.NotNull || f.PrimaryKey || f.HasDefaultValue || f.Serializer != nil {
		return false
	}
	if f.FieldType.Kind() == reflect.Pointer {
		return true
	}
	valuer, ok := reflect.Zero(f.FieldType).Interface().(driver.Valuer)
	if !ok {
		return false
	}
	value, err := valuer.Value()
	return err == nil && value == nil
}

// breakCycles breaks at least one edge of the rows that could not be placed.
func (g *graph) breakCycles() error {
	row := func(n *node) any { return n }
	statement := func(n *node) any { // one that is begun, with its hooks, cannot be parted
		if n.state == begun {
			return n.batch
		}
		return n
	}
	for _, unit := range []func(*node) any{row, statement} {
		if broken, err := g.breakAmong(unit); broken || err != nil {
			return err
		}
	}
	for _, n := range g.order {
		if n.group != nil && n.waits > 0 {
			return &CycleError{Tables: []string{n.shape.schema.Table, n.shape.schema.Table}}
		}
	}
	return &CycleError{}
}

// breakAmong walks in depth from what waits to what it waits for, and breaks each circle that
// it closes, at its last edge that can be broken.
func (g *graph) breakAmong(unit func(*node) any) (broken bool, err error) {
	out := map[any][]*edge{}
	var starts []any
	for i := range g.edges {
		e := &g.edges[i]
		parent, live := e.waits()
		if !live || e.child.waits == placed || parent.waits == placed || unit(e.child) == unit(parent) {
			continue
		}
		from := unit(e.child)
		if out[from] == nil {
			starts = append(starts, from)
		}
		out[from] = append(out[from], e)
	}
	type at struct {
		unit any
		next int
	}
	const onPath, done = 1, 2
	state := map[any]int{}
	for _, start := range starts {
		if state[start] != 0 {
			continue
		}
		stack, path := []at{{unit: start}}, []*edge(nil) // path leads from each of the stack to the next
		state[start] = onPath
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(out[top.unit]) {
				state[top.unit] = done
				stack = stack[:len(stack)-1]
				path = path[:max(0, len(path)-1)]
				continue
			}
			e := out[top.unit][top.next]
			top.next++
			parent, live := e.waits()
			if !live {
				continue // broken meanwhile
			}
			to := unit(parent)
			switch state[to] {
			case 0:
				state[to] = onPath
				stack, path = append(stack, at{unit: to}), append(path, e)
			case onPath:
				from := slices.IndexFunc(stack, func(a at) bool { return a.unit == to })
				circle := append(slices.Clone(path[from:]), e)
				if slices.ContainsFunc(circle, func(e *edge) bool { return e.later }) {
					continue
				}
				if !slices.ContainsFunc(backward(circle), g.breaks) {
					return false, cycleOf(circle)
				}
				broken = true
			}
		}
	}
	return broken, nil
}

func backward(edges []*edge) []*edge {
	edges = slices.Clone(edges)
	slices.Reverse(edges)
	return edges
}

func cycleOf(circle []*edge) error {
	var tables []string
	for _, e := range circle {
		tables = append(tables, e.child.shape.schema.Table)
	}
	tables = slices.Compact(append(tables, tables[0]))
	if len(tables) == 1 {
		tables = append(tables, tables[0])
	}
	return &CycleError{Tables: tables}
}
