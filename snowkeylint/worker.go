package snowkeylint

import (
	"fmt"
	"go/ast"
	"go/constant"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed-299c1d6b/snowkey/snowkeylint/internal/ids"
)

func workerRule() rule {
	return rule{name: "snowworker", run: runWorker, doc: `find one worker ID in two calls of core.Fixed

Two generators with one worker ID and one layout issue the same ids. core.Fixed only refuses a second
generator of the same value.

	orders, err := core.New(core.Config{Worker: core.Fixed(1)})
	events, err := core.New(core.Config{Worker: core.Fixed(1)})  // bad
	events, err := core.New(core.Config{Worker: core.Fixed(2)})  // good

One generator may serve all tables. Tests, and branches of which only one is taken, are left out.`}
}

func runWorker(p *pass) {
	type use struct {
		cur    inspector.Cursor
		layout string
	}
	first := map[string][]use{}
	for cur := range p.inspector.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if !ids.IsFunc(ids.Callee(p.TypesInfo, call), ids.Root+"/core", "Fixed") || len(call.Args) != 1 || p.inTest(call.Pos()) {
			continue
		}
		n, ok := constant.Int64Val(constant.ToInt(value(p.TypesInfo, call.Args[0])))
		if !ok {
			continue
		}
		key := fmt.Sprint(n)
		now := use{cur, p.layoutBeside(cur)}
		before := slices.IndexFunc(first[key], func(u use) bool { return u.layout == now.layout && !exclusive(u.cur, cur) })
		if before >= 0 {
			other := first[key][before].cur.Node()
			at := p.Fset.Position(other.Pos())
			p.reportRelated(call, nil, []analysis.RelatedInformation{{Pos: other.Pos(), End: other.End(), Message: "the other generator"}},
				"another generator of this package has the worker ID %d, in line %d, and issues the same ids: give this one its own, or share one generator", n, at.Line)
		}
		first[key] = append(first[key], now)
	}
}

// layoutBeside returns the text of the layout in the core.Config that has the call as its Worker.
func (p *pass) layoutBeside(cur inspector.Cursor) string {
	for up := range cur.Enclosing((*ast.CompositeLit)(nil)) {
		lit := up.Node().(*ast.CompositeLit)
		if !ids.Is(p.TypesInfo.TypeOf(lit), ids.Root+"/core", "Config") {
			continue
		}
		if e := element(lit, "Layout"); e != nil {
			return p.text(e)
		}
		return ""
	}
	return ""
}

// element returns the value of a field in a struct literal, or nil.
func element(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == name {
				return kv.Value
			}
		}
	}
	return nil
}

// exclusive reports whether two nodes are in branches of which only one is taken, or the first is
// in a branch that returns before the second.
func exclusive(a, b inspector.Cursor) bool {
	var above []ast.Node
	for up := range a.Enclosing() {
		above = append(above, up.Node())
	}
	var below ast.Node = b.Node()
	for up := range b.Enclosing() {
		at := slices.Index(above, up.Node())
		if at <= 0 {
			below = up.Node()
			continue
		}
		switch n := up.Node().(type) {
		case *ast.IfStmt:
			return above[at-1] != below && (above[at-1] == n.Body || above[at-1] == n.Else) && (below == n.Body || below == n.Else)
		case *ast.BlockStmt:
			if isCase(above[at-1]) {
				return true
			}
			return leaves(above[at-1])
		}
		return false
	}
	return false
}

func isCase(n ast.Node) bool {
	switch n.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// leaves reports whether a statement is an if whose body ends with a return.
func leaves(n ast.Node) bool {
	s, ok := n.(*ast.IfStmt)
	if !ok || len(s.Body.List) == 0 {
		return false
	}
	_, ok = s.Body.List[len(s.Body.List)-1].(*ast.ReturnStmt)
	return ok
}
