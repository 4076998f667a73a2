package snowkeylint

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

const workerPath = ids.Root + "/worker"

// isLeased reports whether a function makes a generator that has a lease.
func isLeased(f *types.Func) bool {
	for _, path := range []string{workerPath, workerPath + "/sqlstore", workerPath + "/pgxstore", workerPath + "/redisstore", workerPath + "/httpstore", workerPath + "/etcdstore", gormplugin} {
		if ids.IsFunc(f, path, "Open") {
			return true
		}
	}
	return false
}

// checkEnd checks how a function that makes a generator with a lease closes it: on all ways, and in time.
func (p *pass) checkEnd(cur inspector.Cursor, call *ast.CallExpr, o types.Object) {
	var body *ast.BlockStmt
	for up := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := up.Node().(type) {
		case *ast.FuncDecl:
			body = n.Body
		case *ast.FuncLit:
			body = n.Body
		}
		break
	}
	if body == nil || o.Pos() < body.Pos() || o.Pos() > body.End() {
		return
	}
	var closes []inspector.Cursor // the calls of Close
	for _, mention := range p.mentions()[o] {
		if sel, ok := mention.Parent().Node().(*ast.SelectorExpr); ok && sel.Sel.Name == "Close" {
			closes = append(closes, mention)
		}
	}
	deferred := false
	for _, c := range closes {
		for up := range c.Enclosing((*ast.DeferStmt)(nil), (*ast.FuncLit)(nil)) {
			if d, ok := up.Node().(*ast.DeferStmt); ok {
				deferred = true
				p.checkContext(d, o)
				p.checkExit(body, d, o)
			} else {
				deferred = true // some other function closes it
			}
		}
	}
	h := p.uses(o, body)
	if deferred || len(closes) == 0 || h.escapes {
		return
	}
	p.checkReturns(body, call, closes, o)
}

// checkExit reports a call that ends the process after a deferred Close, which then does not run.
func (p *pass) checkExit(body *ast.BlockStmt, d *ast.DeferStmt, o types.Object) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < d.End() {
			return true
		}
		f := ids.Callee(p.TypesInfo, call)
		if ids.IsFunc(f, "os", "Exit") || ids.IsFunc(f, "log", "Fatal", "Fatalf", "Fatalln") {
			p.report(call, nil, "%s ends the process without the deferred Close of the generator %s, so its worker ID stays leased", p.text(call.Fun), o.Name())
		}
		return true
	})
}

// checkContext reports a deferred Close with a context that ends the function, too.
func (p *pass) checkContext(d *ast.DeferStmt, o types.Object) {
	sel, ok := d.Call.Fun.(*ast.SelectorExpr)
	if !ok || p.Object(sel.X) != o || len(d.Call.Args) != 1 {
		return
	}
	ctx := p.Object(d.Call.Args[0])
	if ctx == nil {
		return
	}
	for _, from := range p.Into(ctx) {
		call, ok := from.Expr.(*ast.CallExpr)
		if !ok || from.Result != 0 {
			continue
		}
		f := ids.Callee(p.TypesInfo, call)
		if ids.IsFunc(f, "os/signal", "NotifyContext") || ids.IsFunc(f, "context", "WithTimeout", "WithDeadline") {
			p.report(d, nil, "the context %s may be done when this runs, and then the worker ID is not released: pass context.WithoutCancel(%[1]s)", ctx.Name())
			return
		}
	}
}

// checkReturns reports a lease that a return between its claim and its Close leaves open.
func (p *pass) checkReturns(body *ast.BlockStmt, call *ast.CallExpr, closes []inspector.Cursor, o types.Object) {
	last := token.NoPos
	for _, c := range closes {
		last = max(last, c.Node().Pos())
	}
	guarded := false // the return after the error of the claim itself
	found := false
	var walk func(list []ast.Stmt, closed bool)
	walk = func(list []ast.Stmt, closed bool) {
		for _, s := range list {
			if found || s.Pos() > last {
				return
			}
			if p.closesIn(s, o) {
				switch s.(type) {
				case *ast.ExprStmt, *ast.AssignStmt:
					closed = true
				}
			}
			if s.End() <= call.End() {
				continue
			}
			switch s := s.(type) {
			case *ast.ReturnStmt:
				if !closed && s.Pos() > call.End() && !p.mentionsObject(s, o) {
					found = true
				}
			case *ast.IfStmt:
				if !guarded && (s.Pos() < call.End() || isNilCheck(s.Cond)) {
					guarded = true
					continue
				}
				walk(s.Body.List, closed)
				if e, ok := s.Else.(*ast.BlockStmt); ok {
					walk(e.List, closed)
				}
			case *ast.BlockStmt:
				walk(s.List, closed)
			case *ast.ForStmt:
				walk(s.Body.List, closed)
			case *ast.RangeStmt:
				walk(s.Body.List, closed)
			}
		}
	}
	walk(body.List, false)
	if found {
		p.report(call, nil, "a return leaves the generator %s open: close it in a defer", o.Name())
	}
}

// closesIn reports whether a statement closes a variable.
func (p *pass) closesIn(s ast.Stmt, o types.Object) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Close" && p.Object(sel.X) == o {
			found = true
		}
		return !found
	})
	return found
}

func isNilCheck(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return ok && (b.Op == token.NEQ || b.Op == token.EQL)
}
