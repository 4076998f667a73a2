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

A lease that is not closed is renewed while the process runs, and keeps its worker ID until its fence
has passed. A restarted program then needs another worker ID, and may find none.

	_, err := sqlstore.Open(ctx, db, worker.Config{}) // bad
	err := db.Use(&gormplugin.Plugin{})                 // bad
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	defer gen.Close(context.Background()) // good, after the check of err`}
}

func runClose(p *pass) {
	for cur := range p.root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		f := p.callee(call)
		if !p.isUse(call) && (!isMaker(f) || !isLeased(f.Signature().Results().At(0).Type()) || returnsCloser(f)) || p.inTest(call.Pos()) {
			continue
		}
		o, dropped := p.holderOf(cur)
		if dropped {
			p.report(call, "the %s is dropped, so nothing can close it", p.made(call))
		}
		if o == nil {
			continue
		}
		p.checkEnd(cur, o)
		if !p.isKept(o, map[types.Object]bool{}) {
			p.report(call, "nothing closes the %s %s: defer its Close", p.made(call), o.Name())
		}
	}
}

// isUse reports whether a call installs a plugin in a handle of gorm.
func (p *pass) isUse(call *ast.CallExpr) bool {
	return isMethod(p.callee(call), "gorm.io/gorm", "Use") && len(call.Args) == 1 && isPlugin(p.TypesInfo.TypeOf(call.Args[0]))
}

// made returns what a call makes.
func (p *pass) made(call *ast.CallExpr) string {
	if p.isUse(call) {
		return "plugin"
	}
	return "generator"
}

// pluginOf is holderOf for a plugin in a call of Use. It returns nothing for a plugin that may have
// a Source, which needs no Close.
func (p *pass) pluginOf(e ast.Expr) (o types.Object, dropped bool) {
	e = addressed(e)
	if o = p.object(e); o == nil {
		return nil, p.leases(e)
	}
	from := p.into[o]
	_, isPointer := types.Unalias(o.Type()).(*types.Pointer)
	if isPointer && len(from) == 0 || slices.ContainsFunc(from, func(a assignment) bool { return !p.leases(addressed(a.from)) }) {
		return nil, false
	}
	return o, false
}

// addressed returns x for &x, and other expressions as they are.
func addressed(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		return ast.Unparen(u.X)
	}
	return e
}

// leases reports whether an expression makes a plugin without a Source: New, with a literal, or a
// zero Plugin.
func (p *pass) leases(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		_, isLiteral := e.(*ast.CompositeLit)
		return isLiteral
	}
	if !isFunc(p.callee(call), pluginPath, "New") || len(call.Args) != 1 {
		return p.TypesInfo.Types[call.Fun].IsBuiltin() // new
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	return ok && !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		return !ok || types.ExprString(kv.Key) == "Source"
	})
}

// holderOf returns the variable that gets the first result of a call, or has the plugin that it
// installs, or nil, and whether the generator is dropped.
func (p *pass) holderOf(cur inspector.Cursor) (o types.Object, dropped bool) {
	if call := cur.Node().(*ast.CallExpr); p.isUse(call) {
		return p.pluginOf(call.Args[0])
	}
	to, dropped := targets(cur)
	if dropped || len(to) == 0 || isBlank(to[0]) {
		return nil, dropped || len(to) > 0
	}
	return p.object(to[0]), false
}

// returnsCloser reports whether a function returns what closes a generator, in addition to it.
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
	return h.closed || h.passed || h.stored || slices.ContainsFunc(h.moved, func(o types.Object) bool { return p.isKept(o, seen) })
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
	if u, ok := cur.Parent().Node().(*ast.UnaryExpr); ok && u.Op == token.AND { // &plugin
		cur = cur.Parent()
	}
	e := cur.Node().(ast.Expr)
	switch n := cur.Parent().Node().(type) {
	case *ast.SelectorExpr:
		if n.Sel.Name == "Generator" { // of a plugin
			next, ok := cur.Parent().Parent().Parent().Node().(*ast.SelectorExpr)
			h.closed = h.closed || ok && next.Sel.Name == "Close"
			h.stored = h.stored || !ok
		}
		h.closed = h.closed || n.Sel.Name == "Close"
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

// onlyIssues reports whether a call passes a generator as an interface that cannot be closed, such
// as sqltype.Source.
func (p *pass) onlyIssues(call *ast.CallExpr, e ast.Expr) bool {
	f, i := p.callee(call), slices.IndexFunc(call.Args, func(arg ast.Expr) bool { return ast.Unparen(arg) == e })
	if f == nil || i < 0 || i >= f.Signature().Params().Len() {
		return false
	}
	t := f.Signature().Params().At(i).Type()
	source, ok := t.Underlying().(*types.Interface)
	return ok && source.NumMethods() > 0 && !hasMethod(t, "Close")
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
