package snowkeylint

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func scopeRule() rule {
	return rule{name: "snowscope", run: runScope, doc: `find generators and leases that are made for each request, row or call

Make one generator when the program starts, and share it. If each row has a generator of its own, each
waits for a new tick or a store, and two of them may issue the same id.

	func create(w http.ResponseWriter, r *http.Request) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // bad
		…
	func main() {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // good

The rule reports HTTP handlers and gorm hooks that make a generator, loops that make and use one, and
functions that make one and return or store an id of it.`}
}

// isMaker reports whether a function makes a generator.
func isMaker(f *types.Func) bool { return ids.IsFunc(f, corePath, "New") || isLeased(f) }

func runScope(p *pass) {
	for cur := range p.inspector.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		f := ids.Callee(p.TypesInfo, call)
		if p.inTest(call.Pos()) || !isMaker(f) && !p.wrapsMaker(f) {
			continue
		}
		if where := p.scopeOf(cur); where != "" {
			p.report(call, nil, "%s makes a generator for %s: make one when the program starts, and share it", p.text(call.Fun), where)
		}
	}
}

// wrapsMaker reports whether a function of the package makes a generator and returns it.
func (p *pass) wrapsMaker(f *types.Func) bool {
	if f == nil || f.Pkg() != p.Pkg || f.Signature().Results().Len() == 0 || !isGenerator(f.Signature().Results().At(0).Type()) {
		return false
	}
	for _, results := range p.Returns(f) {
		if len(results) == 0 {
			continue
		}
		e := ast.Unparen(results[0])
		if call, ok := e.(*ast.CallExpr); ok && isMaker(ids.Callee(p.TypesInfo, call)) {
			return true
		}
		if o := p.Object(e); o != nil && !isShared(o) {
			for _, from := range p.Into(o) {
				if call, ok := from.Expr.(*ast.CallExpr); ok && isMaker(ids.Callee(p.TypesInfo, call)) {
					return true
				}
			}
		}
	}
	return false
}

func isGenerator(t types.Type) bool {
	return ids.Is(t, corePath, "Generator") || ids.Is(t, workerPath, "Generator")
}

// isShared reports whether a variable outlives the call that assigns it.
func isShared(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && (v.IsField() || v.Parent() == nil || v.Parent() == v.Pkg().Scope())
}

// scopeOf returns for what a generator is made again and again, or "".
func (p *pass) scopeOf(cur inspector.Cursor) string {
	gen := p.assigned(cur)
	below := cur
	for up := range cur.Enclosing() {
		switch n := up.Node().(type) {
		case *ast.ForStmt:
			if _, isBody := below.Node().(*ast.BlockStmt); isBody && p.perIteration(gen, n.Body, cur, n) {
				return "each iteration of this loop"
			}
		case *ast.RangeStmt:
			if _, isBody := below.Node().(*ast.BlockStmt); isBody && p.perIteration(gen, n.Body, cur, n) {
				return "each iteration of this loop"
			}
		case *ast.FuncLit:
			if p.runsOnce(up) {
				return ""
			}
			if where := p.perCall(n.Type); where != "" {
				return where
			}
		case *ast.FuncDecl:
			return p.scopeOfFunction(n, gen)
		}
		below = up
	}
	return ""
}

// assigned returns the variable that gets the result of the call, or nil.
func (p *pass) assigned(cur inspector.Cursor) types.Object {
	if s, ok := cur.Parent().Node().(*ast.AssignStmt); ok && len(s.Rhs) == 1 {
		if id, ok := s.Lhs[0].(*ast.Ident); ok {
			return p.TypesInfo.ObjectOf(id)
		}
		if sel, ok := s.Lhs[0].(*ast.SelectorExpr); ok {
			return p.TypesInfo.ObjectOf(sel.Sel)
		}
	}
	return nil
}

// perIteration reports whether a generator is made and used in the body of a loop, does not
// leave it, and does not depend on the loop's variables.
func (p *pass) perIteration(gen types.Object, body *ast.BlockStmt, cur inspector.Cursor, loop ast.Node) bool {
	if gen == nil || gen.Pos() < body.Pos() || gen.Pos() > body.End() || p.escapes(gen, body) || !p.issues(gen, body) {
		return false
	}
	return !p.dependsOn(cur.Node(), loop)
}

// issues reports whether a node takes an id from a generator.
func (p *pass) issues(gen types.Object, in ast.Node) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || p.IsFallible(ids.Callee(p.TypesInfo, call)) == "" {
			return !found
		}
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && p.Object(sel.X) == gen {
			found = true
		}
		for _, arg := range call.Args {
			if p.Object(arg) == gen {
				found = true
			}
		}
		return !found
	})
	return found
}

// escapes reports whether a node stores a generator, passes it on or returns it.
func (p *pass) escapes(gen types.Object, in ast.Node) bool {
	h := p.uses(gen, in)
	return h.escapes || len(h.moved) > 0
}

// runsOnce reports whether a function literal is an argument of sync.Once.Do or sync.OnceValue.
func (p *pass) runsOnce(cur inspector.Cursor) bool {
	call, ok := cur.Parent().Node().(*ast.CallExpr)
	if !ok {
		return false
	}
	f := ids.Callee(p.TypesInfo, call)
	return ids.IsMethod(f, "sync", "Once", "Do") || ids.IsFunc(f, "sync", "OnceValue", "OnceValues", "OnceFunc")
}

// perCall returns for what a function of a signature is called, or "".
func (p *pass) perCall(t *ast.FuncType) string {
	s, ok := p.TypesInfo.TypeOf(t).(*types.Signature)
	if !ok {
		return ""
	}
	return perRequest(s)
}

func perRequest(s *types.Signature) string {
	params := s.Params()
	for i := range params.Len() {
		t := params.At(i).Type()
		if ids.Is(t, "net/http", "Request") && i > 0 && ids.Is(params.At(i-1).Type(), "net/http", "ResponseWriter") {
			return "each request"
		}
		n := ids.Named(t)
		if n == nil || n.Obj().Pkg() == nil || params.Len() > 1 {
			continue
		}
		switch name := n.Obj().Pkg().Name() + "." + n.Obj().Name(); name {
		case "gin.Context", "echo.Context", "fiber.Ctx", "fasthttp.RequestCtx", "iris.Context":
			return "each request"
		}
	}
	return ""
}

// scopeOfFunction returns for what a generator of a function's body is made, or "".
func (p *pass) scopeOfFunction(fn *ast.FuncDecl, gen types.Object) string {
	f, ok := p.TypesInfo.Defs[fn.Name].(*types.Func)
	if !ok {
		return ""
	}
	if gen != nil && isShared(gen) {
		return ""
	}
	if where := perRequest(f.Signature()); where != "" {
		return where
	}
	if isHook(f) {
		return "each row"
	}
	if gen == nil || fn.Recv == nil && (fn.Name.Name == "main" || fn.Name.Name == "init") {
		return ""
	}
	if p.givesRows(fn, f, gen) {
		return "each call of " + fn.Name.Name
	}
	if p.escapes(gen, fn.Body) {
		return ""
	}
	if p.idLeaves(fn, f, gen) {
		return "each call of " + fn.Name.Name
	}
	if p.issuesOnce(fn, gen) && p.calledInLoop(f) {
		return "each call of " + fn.Name.Name + ", in a loop"
	}
	return ""
}

// givesRows reports whether a function closes a generator that it makes, and gives it, together
// with rows of its caller, to another function: such as an insert.
func (p *pass) givesRows(fn *ast.FuncDecl, f *types.Func, gen types.Object) bool {
	if h := p.uses(gen, fn.Body); !h.closed || h.escapes || f.Signature().Recv() == nil && p.Pkg.Name() == "main" {
		return false
	}
	rows := map[types.Object]bool{}
	for v := range f.Signature().Params().Variables() {
		if p.isRows(v.Type()) {
			rows[v] = true
		}
	}
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return !found
		}
		hasGen, hasRows := false, false
		for _, arg := range call.Args {
			hasGen = hasGen || p.Object(arg) == gen
			hasRows = hasRows || rows[p.Object(arg)]
		}
		found = found || hasGen && hasRows
		return !found
	})
	return found
}

// isRows reports whether a type is a list of structs, or a pointer to a struct that has an id.
func (p *pass) isRows(t types.Type) bool {
	list, isList := t.Underlying().(*types.Slice)
	if isList {
		if _, generic := list.Elem().(*types.TypeParam); generic {
			return true
		}
		return rowType(list.Elem()) != nil
	}
	o := rowType(t)
	if o == nil {
		return false
	}
	s, ok := o.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for v := range s.Fields() {
		if v.Name() == "ID" && (ids.IsID(v.Type()) || p.KindOf(v) != ids.None) {
			return true
		}
	}
	return false
}

// issuesOnce reports whether a function takes ids from a generator in no loop, and in no function
// literal: it does not live as long as a service.
func (p *pass) issuesOnce(fn *ast.FuncDecl, gen types.Object) bool {
	outside, inside := false, false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			inside = inside || p.issues(gen, n)
			return false
		case *ast.CallExpr:
			outside = outside || p.issues(gen, n)
		}
		return true
	})
	return outside && !inside
}

// calledInLoop reports whether the package calls a function in a loop, with arguments that do
// not depend on it.
func (p *pass) calledInLoop(f *types.Func) bool {
	for cur := range p.inspector.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if ids.Callee(p.TypesInfo, call) != f || p.inTest(call.Pos()) {
			continue
		}
		for up := range cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
			switch n := up.Node().(type) {
			case *ast.ForStmt:
				if !p.dependsOn(call, n) {
					return true
				}
			case *ast.RangeStmt:
				if !p.dependsOn(call, n) {
					return true
				}
			}
			break
		}
	}
	return false
}

// dependsOn reports whether a node uses a variable that is declared in another.
func (p *pass) dependsOn(n, loop ast.Node) bool {
	depends := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := p.TypesInfo.Uses[id]; o != nil && o.Pos() >= loop.Pos() && o.Pos() < loop.End() {
				depends = true
			}
		}
		return !depends
	})
	return depends
}
