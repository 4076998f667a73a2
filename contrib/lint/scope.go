package lint

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

func scopeRule() rule {
	return rule{name: "snowscope", run: runScope, doc: `find generators and leases that are made for each request, row or call

Make one generator when the program starts, and share it. If each row has its own generator, each
waits for a new tick or a store, and two of them may issue the same id.

	func create(w http.ResponseWriter, r *http.Request) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // bad
		…
	func main() {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // good`}
}

func runScope(p *pass) {
	for cur := range p.root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if !isMaker(p.callee(call)) && !p.isUse(call) || p.inTest(call.Pos()) {
			continue
		}
		gen, _ := p.holderOf(cur)
		if where := p.scopeOf(cur, gen); where != "" {
			p.report(call, "%s makes a %s for %s: make one when the program starts, and share it", types.ExprString(call.Fun), p.made(call), where)
		}
	}
}

// scopeOf returns for what a generator is made again and again, or "".
func (p *pass) scopeOf(cur inspector.Cursor, gen types.Object) string {
	for up := range cur.Enclosing() {
		switch n := up.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if p.perIteration(gen, cur, n) {
				return "each iteration of this loop"
			}
		case *ast.FuncLit:
			if p.runsOnce(up) {
				return ""
			}
			if isHandler(p.TypesInfo.TypeOf(n).(*types.Signature)) {
				return "each request"
			}
		case *ast.FuncDecl:
			return p.scopeOfFunction(n, gen)
		}
	}
	return ""
}

// perIteration reports whether a generator is made and used in a loop, does not leave it, and does
// not depend on the loop's variables.
func (p *pass) perIteration(gen types.Object, made inspector.Cursor, loop ast.Node) bool {
	isInLoop := func(o types.Object) bool { return o.Pos() > loop.Pos() && o.Pos() < loop.End() }
	return gen != nil && isInLoop(gen) && !p.holding(gen, loop).escapes() && p.issuesFrom(gen, loop) && !p.usesAny(made.Node(), isInLoop)
}

// issuesFrom reports whether a node takes an id from a generator.
func (p *pass) issuesFrom(gen types.Object, in ast.Node) bool {
	return contains(in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || p.fallible(p.callee(call)) == "" {
			return false
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		return ok && p.object(sel.X) == gen || p.hasArgument(call, gen)
	})
}

func (p *pass) hasArgument(call *ast.CallExpr, o types.Object) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return p.object(arg) == o })
}

// runsOnce reports whether a function literal is an argument of sync.Once.Do or sync.OnceValue.
func (p *pass) runsOnce(cur inspector.Cursor) bool {
	call, ok := cur.Parent().Node().(*ast.CallExpr)
	return ok && (isMethod(p.callee(call), "sync", "Do") || isFunc(p.callee(call), "sync", "OnceValue", "OnceValues", "OnceFunc"))
}

// isHandler reports whether a function of a type is called for each request.
func isHandler(s *types.Signature) bool {
	for i := range s.Params().Len() {
		t := s.Params().At(i).Type()
		if i > 0 && isType(t, "net/http", "Request") && isType(s.Params().At(i-1).Type(), "net/http", "ResponseWriter") {
			return true
		}
		if n := named(t); n != nil && n.Obj().Pkg() != nil && s.Params().Len() == 1 &&
			slices.Contains([]string{"gin.Context", "echo.Context", "fiber.Ctx", "fasthttp.RequestCtx", "iris.Context"}, n.Obj().Pkg().Name()+"."+n.Obj().Name()) {
			return true
		}
	}
	return false
}

// isHook reports whether a method is a hook that gorm calls for each row, or bun for each query.
func isHook(f *types.Func) bool {
	name, params := f.Name(), f.Signature().Params()
	ofGORM := params.Len() == 1 && isType(params.At(0).Type(), "gorm.io/gorm", "DB") && (strings.HasPrefix(name, "Before") || strings.HasPrefix(name, "After"))
	return f.Signature().Recv() != nil && (ofGORM || name == "BeforeAppendModel" || name == "BeforeInsert")
}

// scopeOfFunction returns for what a generator of a function's body is made, or "".
func (p *pass) scopeOfFunction(fn *ast.FuncDecl, gen types.Object) string {
	f, ok := p.TypesInfo.Defs[fn.Name].(*types.Func)
	switch {
	case !ok || gen != nil && isShared(gen):
		return ""
	case isHandler(f.Signature()):
		return "each request"
	case isHook(f):
		return "each row"
	case gen == nil || fn.Recv == nil && (fn.Name.Name == "main" || fn.Name.Name == "init"):
		return ""
	case !p.holding(gen, fn.Body).escapes() && p.idLeaves(fn, gen):
		return "each call of " + fn.Name.Name
	}
	return ""
}

// idLeaves reports whether an id of a generator that stays in a function leaves it: as a result,
// in a field of a parameter or of the receiver, in the rows of a list that another function gets
// with the generator, or as an argument of a statement that a method runs.
func (p *pass) idLeaves(fn *ast.FuncDecl, gen types.Object) bool {
	isOuter := func(o types.Object) bool { return o.Pos() > fn.Pos() && o.Pos() < fn.Body.Pos() }
	taken := map[types.Object]bool{} // variables with an id of the generator
	hasID := func(e ast.Expr) bool {
		return p.issuesFrom(gen, e) || p.usesAny(e, func(o types.Object) bool { return taken[o] })
	}
	leaves := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				root := p.rootOf(left)
				if root == nil || i > 0 && len(n.Rhs) == 1 || !hasID(n.Rhs[min(i, len(n.Rhs)-1)]) {
					continue
				}
				_, isName := left.(*ast.Ident)
				isResult := root.Pos() > fn.Type.Params.End() && !isError(root.Type())
				leaves = leaves || isOuter(root) && (!isName || isResult)
				taken[root] = !isOuter(root)
			}
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				leaves = leaves || !isError(p.TypesInfo.TypeOf(e)) && hasID(e)
			}
		case *ast.CallExpr:
			f, isService := p.callee(n), fn.Recv != nil || p.Pkg.Name() != "main"
			for _, arg := range n.Args {
				o := p.object(arg)
				leaves = leaves || isService && p.hasArgument(n, gen) && o != nil && isOuter(o) && isRows(o.Type()) ||
					fn.Recv != nil && f != nil && (strings.HasPrefix(f.Name(), "Exec") || f.Name() == "Create") && hasID(arg)
			}
		}
		return !leaves
	})
	return leaves
}

// rootOf returns the variable at the beginning of an expression.
func (p *pass) rootOf(e ast.Expr) (root types.Object) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && root == nil {
			root = p.object(id)
		}
		return root == nil
	})
	return root
}

// isRows reports whether a type is a list of structs.
func isRows(t types.Type) bool {
	e := elementOf(t)
	_, generic := e.(*types.TypeParam)
	return generic || structOf(e) != nil
}
