package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

// checkEnd checks how a function that makes a lease ends it: on all ways, and in time.
func (p *pass) checkEnd(cur inspector.Cursor, o types.Object) {
	body, call := bodyOf(cur), cur.Node().(*ast.CallExpr)
	if o.Pos() < body.Pos() || o.Pos() > body.End() {
		return
	}
	var closes []inspector.Cursor
	elsewhere := false
	for _, mention := range p.mentions()[o] {
		sel, ok := mention.Parent().Node().(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Close" {
			continue
		}
		closes = append(closes, mention)
		for up := range mention.Enclosing((*ast.DeferStmt)(nil), (*ast.FuncLit)(nil)) {
			if d, ok := up.Node().(*ast.DeferStmt); ok {
				p.checkContext(d, o)
				p.checkExit(body, d, o)
			}
			elsewhere = elsewhere || up.Node().Pos() > body.Pos() // a defer or another function
		}
	}
	if len(closes) > 0 && !elsewhere && !p.holding(o, body).stored && p.returnsOpen(body, call, closes, o) {
		p.report(call, "a return leaves the %s %s open: close it in a defer", p.made(call), o.Name())
	}
}

// checkContext reports a deferred Close with a context that ends with the function, or before.
func (p *pass) checkContext(d *ast.DeferStmt, o types.Object) {
	sel, ok := d.Call.Fun.(*ast.SelectorExpr)
	if !ok || p.object(sel.X) != o || len(d.Call.Args) != 1 {
		return
	}
	ctx := p.object(d.Call.Args[0])
	for _, a := range p.into[ctx] {
		call, ok := a.from.(*ast.CallExpr)
		if !ok || a.result != 0 {
			continue
		}
		if f := p.callee(call); isFunc(f, "os/signal", "NotifyContext") || isFunc(f, "context", "WithTimeout", "WithDeadline") {
			p.report(d, "the context %s may be done when this runs, and then the worker ID is not released: pass context.WithoutCancel(%[1]s)", ctx.Name())
			return
		}
	}
}

// checkExit reports a call that ends the process after a deferred Close, which then does not run.
func (p *pass) checkExit(body *ast.BlockStmt, d *ast.DeferStmt, o types.Object) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok && call.Pos() > d.End() {
			if f := p.callee(call); isFunc(f, "os", "Exit") || isFunc(f, "log", "Fatal", "Fatalf", "Fatalln") {
				p.report(call, "%s ends the process without the deferred Close of %s, so its worker ID stays leased", types.ExprString(call.Fun), o.Name())
			}
		}
		return true
	})
}

// returnsOpen reports whether a return between the call that makes a lease and its last Close
// leaves the lease open. The first if after the call is for its own error.
func (p *pass) returnsOpen(body *ast.BlockStmt, made *ast.CallExpr, closes []inspector.Cursor, o types.Object) bool {
	guard, open := token.NoPos, false
	last := closes[len(closes)-1].Node()
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IfStmt:
			if n.Body.Pos() > made.Pos() && !guard.IsValid() {
				guard = n.End()
			}
		case *ast.ReturnStmt:
			open = open || guard.IsValid() && n.Pos() > guard && n.End() < last.End() && !p.uses(n, o) &&
				!slices.ContainsFunc(closes, func(c inspector.Cursor) bool { return isBefore(c, n) })
		}
		return true
	})
	return open
}

// isBefore reports whether a call is made before a return, in a block that has it.
func isBefore(call inspector.Cursor, n ast.Node) bool {
	for block := range call.Enclosing((*ast.BlockStmt)(nil), (*ast.CaseClause)(nil), (*ast.CommClause)(nil)) {
		return call.Node().End() < n.Pos() && n.End() <= block.Node().End()
	}
	return false
}
