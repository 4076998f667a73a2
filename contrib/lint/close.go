package snowkeylint

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func closeRule() rule {
	return rule{name: "snowclose", run: runClose, doc: `find generators that are never closed

A generator that is not closed renews its lease while the process runs, and keeps its worker ID until
the TTL ends. A restarted program then needs another worker ID, and may find none.

	_, err := gormplugin.Open(ctx, db, gormplugin.Config{}) // bad
	gen, err := gormplugin.Open(ctx, db, gormplugin.Config{})
	if err != nil {
		return err
	}
	defer gen.Close(context.Background()) // good

The rule reports a variable or an unexported field if no code of the package closes it,
returns it, or passes it to code that might. It ignores a generator of core.Fixed that lives as long
as the program. With a lease it also reports a return before Close, a process that ends without the
deferred Close, a deferred Close with a context that is done by then, and a method that overwrites
the generator in a field of its receiver, under a lock.`}
}

// A holding records what the code does with a generator in a variable.
type holding struct {
	closed  bool
	escapes bool
	moved   []types.Object // other variables of the package that get it
}

func runClose(p *pass) {
	for cur := range p.inspector.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		f := ids.Callee(p.TypesInfo, call)
		if p.inTest(call.Pos()) || !isMaker(f) && !p.wrapsMaker(f) {
			continue
		}
		if hasCloser(f.Signature().Results()) {
			continue
		}
		var o types.Object
		switch s := cur.Parent().Node().(type) {
		case *ast.ExprStmt:
			p.reportDropped(call, f)
			continue
		case *ast.AssignStmt:
			if len(s.Rhs) != 1 {
				continue
			}
			if id, ok := s.Lhs[0].(*ast.Ident); ok && id.Name == "_" {
				p.reportDropped(call, f)
				continue
			}
			o = p.Object(s.Lhs[0])
		case *ast.ValueSpec:
			if len(s.Values) == 1 && s.Names[0].Name != "_" {
				o = p.TypesInfo.Defs[s.Names[0]]
			}
		}
		if o == nil {
			continue
		}
		if isLeased(f) {
			p.checkEnd(cur, call, o)
			p.checkOverwrite(cur, o)
		}
		if p.isKept(o, map[types.Object]bool{}) || p.livesOn(cur, call, o) {
			continue
		}
		verb := "close it, for example with defer " + o.Name() + ".Close()"
		p.report(call, nil, "nothing closes the generator %s: %s", o.Name(), verb)
	}
}

// reportDropped reports a generator with a lease that no variable holds. A generator without a lease may be made
// only to check its configuration.
func (p *pass) reportDropped(call *ast.CallExpr, f *types.Func) {
	if !ids.Is(f.Signature().Results().At(0).Type(), corePath, "Generator") {
		p.report(call, nil, "the generator is dropped, so nothing can close it")
	}
}

// hasCloser reports whether a function returns, beside a generator, a function that closes it.
func hasCloser(results *types.Tuple) bool {
	for v := range results.Variables() {
		if _, ok := v.Type().Underlying().(*types.Signature); ok || hasMethod(v.Type(), "Close") && !isGenerator(v.Type()) {
			return true
		}
	}
	return false
}

// isKept reports whether a variable's generator is closed, or may be closed by other code.
func (p *pass) isKept(o types.Object, seen map[types.Object]bool) bool {
	if seen[o] {
		return false
	}
	seen[o] = true
	v, ok := o.(*types.Var)
	if !ok || v.Pkg() != p.Pkg || v.Exported() && isShared(v) || v.Embedded() {
		return true
	}
	h := p.uses(o, nil)
	if h.closed || h.escapes {
		return true
	}
	for _, other := range h.moved {
		if p.isKept(other, seen) {
			return true
		}
	}
	return false
}

// livesOn reports whether a generator need not be closed: it has a fixed worker ID and lives as
// long as the program.
func (p *pass) livesOn(cur inspector.Cursor, call *ast.CallExpr, o types.Object) bool {
	if !ids.IsFunc(ids.Callee(p.TypesInfo, call), ids.Root+"/core", "New") || len(call.Args) != 1 {
		return false
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	if !ok {
		return false
	}
	source := element(lit, "Worker")
	if source == nil {
		return false
	}
	fixed, ok := ast.Unparen(source).(*ast.CallExpr)
	if !ok || !ids.IsFunc(ids.Callee(p.TypesInfo, fixed), ids.Root+"/core", "Fixed") {
		return false
	}
	if o.Parent() == p.Pkg.Scope() {
		return true
	}
	for up := range cur.Enclosing((*ast.FuncDecl)(nil)) {
		fn := up.Node().(*ast.FuncDecl)
		return fn.Recv == nil && fn.Name.Name == "main" && p.Pkg.Name() == "main"
	}
	return true // a variable of the package
}

// uses returns what is done with a variable, in a node or, if that is nil, in the package.
func (p *pass) uses(o types.Object, in ast.Node) (h holding) {
	for _, cur := range p.mentions()[o] {
		if in != nil && (cur.Node().Pos() < in.Pos() || cur.Node().End() > in.End()) {
			continue
		}
		p.use(&h, cur)
	}
	return h
}

// mentions returns where the package uses its variables that hold generators.
func (p *pass) mentions() map[types.Object][]inspector.Cursor {
	if p.held != nil {
		return p.held
	}
	p.held = map[types.Object][]inspector.Cursor{}
	for cur := range p.inspector.Root().Preorder((*ast.Ident)(nil)) {
		v, ok := p.TypesInfo.Uses[cur.Node().(*ast.Ident)].(*types.Var)
		if ok && isGenerator(v.Type()) {
			p.held[v.Origin()] = append(p.held[v.Origin()], cur)
		}
	}
	return p.held
}

func (p *pass) use(h *holding, cur inspector.Cursor) {
	up := cur.Parent()
	if sel, ok := up.Node().(*ast.SelectorExpr); ok && sel.Sel == cur.Node() { // x.gen
		cur, up = up, up.Parent()
	}
	for {
		if _, ok := up.Node().(*ast.ParenExpr); !ok {
			break
		}
		cur, up = up, up.Parent()
	}
	e := cur.Node().(ast.Expr)
	switch n := up.Node().(type) {
	case *ast.SelectorExpr:
		h.closed = h.closed || n.Sel.Name == "Close"
	case *ast.CallExpr:
		p.useAsArgument(h, n, e)
	case *ast.KeyValueExpr:
		if n.Value == e {
			p.moveTo(h, p.Object(n.Key))
		}
	case *ast.AssignStmt:
		for i, right := range n.Rhs {
			if right == e && len(n.Lhs) == len(n.Rhs) {
				if id, ok := n.Lhs[i].(*ast.Ident); ok && id.Name == "_" {
					return
				}
				p.moveTo(h, p.Object(n.Lhs[i]))
			}
		}
	case *ast.ValueSpec:
		for i, value := range n.Values {
			if value == e && len(n.Values) == len(n.Names) {
				p.moveTo(h, p.TypesInfo.Defs[n.Names[i]])
			}
		}
	case *ast.BinaryExpr:
		h.escapes = h.escapes || n.Op != token.EQL && n.Op != token.NEQ
	default:
		h.escapes = true
	}
}

func (p *pass) useAsArgument(h *holding, call *ast.CallExpr, e ast.Expr) {
	f := ids.Callee(p.TypesInfo, call)
	if ids.IsFunc(f, ids.Sqltype, "New", "NewKey", "Assign") {
		return
	}
	if f != nil && f.Pkg() == p.Pkg && !f.Signature().Variadic() && ids.IsConversion(p.TypesInfo, call) == nil {
		for i, arg := range call.Args {
			if ast.Unparen(arg) == e && i < f.Signature().Params().Len() {
				if param := f.Signature().Params().At(i); isGenerator(param.Type()) && len(p.Returns(f))+len(p.Calls(f)) > 0 {
					h.moved = append(h.moved, param)
					return
				}
			}
		}
	}
	if f == nil || !p.takesSource(f, call, e) {
		h.escapes = true
	}
}

// takesSource reports whether a parameter is an interface that cannot be closed, such as
// sqltype.Source.
func (p *pass) takesSource(f *types.Func, call *ast.CallExpr, e ast.Expr) bool {
	params := f.Signature().Params()
	for i, arg := range call.Args {
		if ast.Unparen(arg) != e || i >= params.Len() {
			continue
		}
		source, ok := params.At(i).Type().Underlying().(*types.Interface)
		if _, generic := types.Unalias(params.At(i).Type()).(*types.TypeParam); !ok || generic || source.NumMethods() == 0 {
			return false
		}
		return !hasMethod(params.At(i).Type(), "Close")
	}
	return false
}

// moveTo records that a variable or a field gets the generator. What a configuration of ours
// gets, it does not close.
func (p *pass) moveTo(h *holding, o types.Object) {
	switch {
	case o == nil:
		h.escapes = true
	case o.Pkg() == p.Pkg && isGenerator(o.Type()):
		h.moved = append(h.moved, o)
	case o.Pkg() != nil && o.Pkg() != p.Pkg && (o.Name() == "Worker" && ids.Is(o.Type(), ids.Root+"/core", "GrantSource") || o.Name() == "Source" && ids.Is(o.Type(), ids.Sqltype, "Source")):
	default:
		h.escapes = true
	}
}
