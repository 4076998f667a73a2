package snowkeylint

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func workerRule() rule {
	return rule{name: "snowworker", run: runWorker, doc: `find one worker ID in two calls of core.Fixed

Two generators with the same worker ID and layout issue the same ids. core.Fixed rejects a second
generator only if both use the result of one call.

	orders, err := core.New(core.Config{Worker: core.Fixed(1)})
	events, err := core.New(core.Config{Worker: core.Fixed(1)})  // bad
	events, err := core.New(core.Config{Worker: core.Fixed(2)})  // good

One generator may serve all tables. The rule ignores tests, and branches of which only one runs.`}
}

// A fixedUse is a constant worker ID in the source.
type fixedUse struct {
	cur    inspector.Cursor
	worker int64
	arg    ast.Expr
	layout string
}

func runWorker(p *pass) {
	seen := map[int64][]fixedUse{}
	for _, use := range p.fixedUses() {
		at := slices.IndexFunc(seen[use.worker], func(u fixedUse) bool { return u.layout == use.layout && !exclusive(u.cur, use.cur) })
		switch {
		case at >= 0:
			other := seen[use.worker][at].cur.Node()
			p.reportRelated(use.cur.Node(), nil, []analysis.RelatedInformation{{Pos: other.Pos(), End: other.End(), Message: "the other generator"}},
				"another generator of this package has the worker ID %d, in line %d, and issues the same ids: give this one its own, or share one generator",
				use.worker, p.Fset.Position(other.Pos()).Line)
		case p.collects(use.cur):
			p.report(use.cur.Node(), nil, "each iteration makes a generator with the worker ID %d, and all of them issue the same ids: give each its own", use.worker)
		default:
			p.checkImported(use)
		}
		seen[use.worker] = append(seen[use.worker], use)
	}
}

// fixedUses returns the calls of core.Fixed with a constant, and those of functions of the package
// that pass a parameter on to core.Fixed.
func (p *pass) fixedUses() (uses []fixedUse) {
	passOn := map[*types.Func]int{}
	calls := []*ast.CallExpr{}
	cursors := []inspector.Cursor{}
	for cur := range p.inspector.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		calls, cursors = append(calls, call), append(cursors, cur)
		if ids.IsFunc(ids.Callee(p.TypesInfo, call), corePath, "Fixed") && len(call.Args) == 1 {
			if f, i := p.Parameter(p.Object(p.strip(call.Args[0]))); f != nil {
				passOn[f] = i
			}
		}
	}
	for n, call := range calls {
		f := ids.Callee(p.TypesInfo, call)
		if f == nil || p.inTest(call.Pos()) {
			continue
		}
		i, ok := passOn[f]
		if ids.IsFunc(f, corePath, "Fixed") {
			i, ok = 0, true
		}
		if !ok || i >= len(call.Args) {
			continue
		}
		if worker, ok := constant.Int64Val(constant.ToInt(value(p.TypesInfo, call.Args[i]))); ok {
			uses = append(uses, fixedUse{cursors[n], worker, call.Args[i], p.layoutBeside(cursors[n])})
		}
	}
	return uses
}

// checkImported reports a constant of another package, if that package makes a generator with it.
func (p *pass) checkImported(use fixedUse) {
	id := lastIdent(use.arg)
	if id == nil {
		return
	}
	c, ok := p.TypesInfo.Uses[id].(*types.Const)
	if ok && c.Pkg() != p.Pkg && slices.Contains(p.FixedIn(c.Pkg()), use.worker) {
		p.report(use.cur.Node(), nil, "package %s makes a generator with the worker ID %s as well, and both issue the same ids: give this one its own", c.Pkg().Name(), p.text(use.arg))
	}
}

// collects reports whether a call is in a loop that stores the generators that it makes.
func (p *pass) collects(cur inspector.Cursor) bool {
	for up := range cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		var body *ast.BlockStmt
		switch n := up.Node().(type) {
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		default:
			return false
		}
		if cur.Node().Pos() < body.Pos() {
			return false
		}
		for made := range cur.Enclosing((*ast.CallExpr)(nil)) {
			if isMaker(ids.Callee(p.TypesInfo, made.Node().(*ast.CallExpr))) {
				return p.isCollected(made, body)
			}
		}
		return false
	}
	return false
}

// isCollected reports whether the result of a call is put into a list or a map, in a loop's body.
func (p *pass) isCollected(made inspector.Cursor, body *ast.BlockStmt) bool {
	s, ok := made.Parent().Node().(*ast.AssignStmt)
	if !ok {
		return false
	}
	if _, ok := s.Lhs[0].(*ast.IndexExpr); ok {
		return true
	}
	o := p.Object(s.Lhs[0])
	if o == nil || o.Pos() < body.Pos() || o.Pos() > body.End() {
		return false
	}
	for _, cur := range p.mentions()[o] {
		switch n := cur.Parent().Node().(type) {
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "append" && p.TypesInfo.Types[id].IsBuiltin() {
				return true
			}
		case *ast.AssignStmt:
			if _, ok := n.Lhs[0].(*ast.IndexExpr); ok {
				return true
			}
		}
	}
	return false
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
	below := b.Node()
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
			return leaves(above[at-1]) && at > 1 && above[at-2] == above[at-1].(*ast.IfStmt).Body
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
