package graph

import (
	"database/sql/driver"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"
)

// CycleError is returned by [Create] if rows refer to each other in a cycle in which no foreign
// key may be NULL, so that no row can be written first.
type CycleError struct {
	Tables []string // each refers to the next; the last is the first again
}

func (e *CycleError) Error() string {
	return "graph: the foreign keys of the rows form a cycle of tables: " + strings.Join(e.Tables, " → ") +
		"; let one of them be NULL (a pointer, a NullID or a NullKey, not tagged not null), or write one of the rows without its reference, and set that afterwards"
}

// edgeID identifies an edge in all walks.
type edgeID struct {
	child, parent *node
	refs          *[]reference
}

func (e *edge) id() edgeID { return edgeID{e.child, e.parent, e.refs} }

// markDeferred marks the edges that are broken. A row that refers to its own key is a cycle too
// if the database makes that key.
func (g *graph) markDeferred() error {
	clear(g.deferred)
	for i := range g.edges {
		e := &g.edges[i]
		if e.child == e.parent && e.child.state != written && slices.ContainsFunc(*e.refs, func(r reference) bool { return r.auto }) && !g.breakEdge(e) {
			return cycleError([]*edge{e})
		}
		if e.deferred = g.broken[e.id()]; e.deferred {
			g.deferred[e.child] = append(g.deferred[e.child], *e)
		}
	}
	return nil
}

// breakEdge leaves a reference to an UPDATE at the end, if the row can be written without it.
func (g *graph) breakEdge(e *edge) bool {
	s := e.child.model.schema
	if e.child.role == isJoin || len(s.PrimaryFields) == 0 || !slices.ContainsFunc(*e.refs, func(r reference) bool { return r.from != nil && mayBeNull(r.to) }) {
		return false
	}
	g.broken[e.id()] = true
	e.deferred = true
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
	statement := func(n *node) any { // one that is begun cannot be split: its hooks have run
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
			return &CycleError{Tables: []string{n.model.schema.Table, n.model.schema.Table}}
		}
	}
	return &CycleError{}
}

// breakAmong walks in depth from each row, or statement, to those that it waits for. It breaks
// each cycle at its last edge that can be broken.
func (g *graph) breakAmong(unit func(*node) any) (broken bool, err error) {
	out := map[any][]*edge{}
	var starts []any
	for i := range g.edges {
		e := &g.edges[i]
		parent, waits := e.parentOf()
		if !waits || e.child.waits == placed || parent.waits == placed || unit(e.child) == unit(parent) {
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
		stack, path := []at{{unit: start}}, []*edge(nil) // path leads from each to the next
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
			parent, waits := e.parentOf()
			if !waits {
				continue // it was broken meanwhile
			}
			to := unit(parent)
			switch state[to] {
			case 0:
				state[to] = onPath
				stack, path = append(stack, at{unit: to}), append(path, e)
			case onPath:
				from := slices.IndexFunc(stack, func(a at) bool { return a.unit == to })
				cycle := append(slices.Clone(path[from:]), e)
				if slices.ContainsFunc(cycle, func(e *edge) bool { return e.deferred }) {
					continue
				}
				if !slices.ContainsFunc(backward(cycle), g.breakEdge) {
					return false, cycleError(cycle)
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

func cycleError(cycle []*edge) error {
	var tables []string
	for _, e := range cycle {
		tables = append(tables, e.child.model.schema.Table)
	}
	tables = slices.Compact(append(tables, tables[0]))
	if len(tables) == 1 {
		tables = append(tables, tables[0])
	}
	return &CycleError{Tables: tables}
}
