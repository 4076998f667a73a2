package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

func closeRule() rule {
	return rule{name: "snowclose", run: runClose, doc: `find leases, and generators that have one, that are never closed

A lease that is not closed is renewed while the process runs, and keeps its worker ID until its TTL
ends. A restarted program then needs another worker ID, and may find none.

	_, err := gormplugin.Open(ctx, db, gormplugin.Config{}) // bad
	gen, err := gormplugin.Open(ctx, db, gormplugin.Config{})
	if err != nil {
		return err
	}
	defer gen.Close(context.Background()) // good`}
}

func runClose(p *pass) {
	for cur := range p.root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		f := p.callee(call)
		if !isMaker(f) || p.inTest(call.Pos()) || !isLeased(f.Signature().Results().At(0).Type()) || returnsCloser(f) {
			continue
		}
		o, dropped := p.holderOf(cur)
		if dropped {
			p.report(call, "the generator is dropped, so nothing can close it")
		}
		if o == nil {
			continue
		}
		p.checkEnd(cur, o)
		if !p.isKept(o, map[types.Object]bool{}) {
			p.report(call, "nothing closes the generator %s: defer its Close", o.Name())
		}
	}
}

// holderOf returns the variable that gets the first result of a call, or nil, and whether the result
// is dropped.
func (p *pass) holderOf(cur inspector.Cursor) (o types.Object, dropped bool) {
	to, dropped := targets(cur)
	if dropped || len(to) == 0 || isBlank(to[0]) {
		return nil, dropped || len(to) > 0
	}
	return p.object(to[0]), false
}

// returnsCloser reports whether a function returns, beside a generator, what closes it.
func returnsCloser(f *types.Func) bool {
	for v := range f.Signature().Results().Variables() {
		if _, ok := v.Type().Underlying().(*types.Signature); ok || hasMethod(v.Type(), "Close") && !isGenerator(v.Type()) {
			return true
		}
	}
	return false
}

// A holding records what the code does with a generator in a variable.
type holding struct {
	closed bool
	passed bool           // to a function that may close it
	stored bool           // where the rules do not follow it, or returned
	moved  []types.Object // other variables and fields that get it
}

// escapes reports whether other code may use the generator.
func (h holding) escapes() bool { return h.passed || h.stored || len(h.moved) > 0 }

// isKept reports whether a variable's generator is closed, or may be closed by other code.
func (p *pass) isKept(o types.Object, seen map[types.Object]bool) bool {
	if seen[o] {
		return false
	}
	seen[o] = true
	if o.Pkg() != p.Pkg || isShared(o) && (o.Exported() || o.(*types.Var).Embedded()) {
		return true
	}
	h := p.holding(o, nil)
	kept := h.closed || h.passed || h.stored
	for _, other := range h.moved {
		kept = kept || p.isKept(other, seen)
	}
	return kept
}

// isShared reports whether a variable outlives the call that assigns it.
func isShared(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && (v.IsField() || v.Parent() == nil || v.Parent() == v.Pkg().Scope())
}

// holding returns what is done with a variable, in a node or, if that is nil, in the package.
func (p *pass) holding(o types.Object, in ast.Node) (h holding) {
	for _, cur := range p.mentions()[o] {
		if in == nil || cur.Node().Pos() >= in.Pos() && cur.Node().End() <= in.End() {
			p.use(&h, cur)
		}
	}
	return h
}

// mentions returns where the package uses its variables that hold generators and leases.
func (p *pass) mentions() map[types.Object][]inspector.Cursor {
	if p.held == nil {
		p.held = map[types.Object][]inspector.Cursor{}
		for cur := range p.root.Preorder((*ast.Ident)(nil)) {
			v, ok := p.TypesInfo.Uses[cur.Node().(*ast.Ident)].(*types.Var)
			if ok && isGenerator(v.Type()) {
				p.held[v.Origin()] = append(p.held[v.Origin()], cur)
			}
		}
	}
	return p.held
}

func (p *pass) use(h *holding, cur inspector.Cursor) {
	if sel, ok := cur.Parent().Node().(*ast.SelectorExpr); ok && sel.Sel == cur.Node() { // x.gen
		cur = cur.Parent()
	}
	e := cur.Node().(ast.Expr)
	switch n := cur.Parent().Node().(type) {
	case *ast.SelectorExpr:
		h.closed = h.closed || isClose(n)
	case *ast.CallExpr:
		h.passed = h.passed || !p.onlyIssues(n, e)
	case *ast.KeyValueExpr, *ast.CompositeLit, *ast.AssignStmt, *ast.ValueSpec:
		i := slices.IndexFunc(p.assignments, func(a assignment) bool { return a.from == e })
		kv, isPair := n.(*ast.KeyValueExpr)
		if _, isElement := n.(*ast.CompositeLit); i >= 0 {
			p.moveTo(h, p.assignments[i].to)
		} else if isElement || isPair && kv.Value == e { // of a list or a map
			h.stored = true
		}
	case *ast.BinaryExpr:
		h.stored = h.stored || n.Op != token.EQL && n.Op != token.NEQ
	default:
		h.stored = true
	}
}

func isClose(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "Close" }

// onlyIssues reports whether a call passes a generator as an interface that cannot be closed, such
// as sqltype.Source.
func (p *pass) onlyIssues(call *ast.CallExpr, e ast.Expr) bool {
	f := p.callee(call)
	if f == nil {
		return false
	}
	params := f.Signature().Params()
	for i, arg := range call.Args {
		if ast.Unparen(arg) != e || i >= params.Len() {
			continue
		}
		source, ok := params.At(i).Type().Underlying().(*types.Interface)
		return ok && source.NumMethods() > 0 && !hasMethod(params.At(i).Type(), "Close")
	}
	return false
}

// moveTo records that a variable or a field gets the generator. A configuration of ours only uses
// it.
func (p *pass) moveTo(h *holding, o types.Object) {
	switch {
	case o.Pkg() == p.Pkg && isGenerator(o.Type()):
		h.moved = append(h.moved, o)
	case o.Pkg() == p.Pkg || !isOurs(o):
		h.stored = true
	}
}
