package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

func errRule() rule {
	return rule{name: "snowerr", run: runErr, doc: `find ignored errors of calls that issue ids

Next, Fill, sqltype.NextID, NextKey and Assign fail if the clock is wrong, the lease is lost or the context
is done. Then they issue no id, and the key stays 0.

	id, _ := gen.Next(ctx)  // bad
	gen.Fill(ctx, ids)      // bad
	if id, err = gen.Next(ctx); err != nil { return err } // good`}
}

func runErr(p *pass) {
	for cur := range p.root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		name := p.fallible(p.callee(call))
		if name == "" || p.inTest(call.Pos()) {
			continue
		}
		to, dropped := targets(cur)
		if dropped || len(to) > 0 && isBlank(to[len(to)-1]) {
			p.report(call, "the error of %s is ignored: without an id the key stays 0", name)
		}
		switch s := cur.Parent().Node().(type) {
		case *ast.AssignStmt:
			if id, ok := s.Lhs[len(s.Lhs)-1].(*ast.Ident); ok && len(s.Rhs) == 1 && !isBlank(id) {
				use := issued{pass: p, name: name, stmt: s, err: p.object(id)}
				if len(s.Lhs) == 2 {
					use.key = p.object(s.Lhs[0])
				}
				use.check(cur.Parent().Parent().Node())
			}
		case *ast.CallExpr:
			if f := p.callee(s); f != nil && len(s.Args) == 1 && dropsError(f.Signature().Params()) {
				p.report(call, "%s drops the error of %s: without an id the key stays 0", f.Name(), name)
			}
		}
	}
}

// dropsError reports whether parameters are an id and an error without a name.
func dropsError(params *types.Tuple) bool {
	return params.Len() == 2 && params.At(1).Name() == "_" && isError(params.At(1).Type())
}

// issued is an assignment of an id and an error to variables.
type issued struct {
	*pass
	name     string // of the call
	stmt     *ast.AssignStmt
	err, key types.Object // key may be nil
}

// check checks what follows, in the statement or block that has the assignment.
func (u issued) check(parent ast.Node) {
	switch parent := parent.(type) {
	case *ast.IfStmt:
		// if id, err := gen.Next(ctx); !errors.Is(err, …) { … id … }
		not, ok := ast.Unparen(parent.Cond).(*ast.UnaryExpr)
		if ok && not.Op == token.NOT && u.isErrorsIs(not.X) && u.uses(parent.Body, u.key) {
			u.reportOther(parent.Cond)
		}
	case *ast.BlockStmt:
		u.checkStatements(parent.List)
	case *ast.CaseClause:
		u.checkStatements(parent.Body)
	case *ast.CommClause:
		u.checkStatements(parent.Body)
	}
}

func (u issued) isErrorsIs(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && isFunc(u.callee(call), "errors", "Is", "As") && len(call.Args) == 2 && u.object(call.Args[0]) == u.err
}

func (u issued) reportOther(cond ast.Expr) {
	u.report(cond, "after another error of %s the program continues with the id 0: compare the error with nil", u.name)
}

// checkStatements checks the statements after the assignment: the error must be read before another
// call overwrites it, and the id must not be used after an error.
func (u issued) checkStatements(all []ast.Stmt) {
	for i := slices.Index(all, ast.Stmt(u.stmt)) + 1; i > 0 && i < len(all); i++ {
		if s, ok := all[i].(*ast.IfStmt); ok && s.Init == nil && u.uses(s.Cond, u.err) {
			u.checkBranch(s, all[i+1:])
			return
		}
		if u.reads(all[i], u.err) {
			return
		}
		switch s := all[i].(type) {
		case *ast.AssignStmt:
			if u.assigns(s, u.err) {
				u.report(u.stmt.Rhs[0], "the error of %s is overwritten before it is read", u.name)
				return
			}
		case *ast.ExprStmt, *ast.DeclStmt, *ast.IncDecStmt:
		default:
			return // it may leave the block
		}
	}
}

// checkBranch reports a branch for the error after which the statements that follow use the id
// all the same.
func (u issued) checkBranch(s *ast.IfStmt, rest []ast.Stmt) {
	i := slices.IndexFunc(rest, func(next ast.Stmt) bool { return u.reads(next, u.err) || u.uses(next, u.key) })
	if s.Else != nil || i < 0 || u.reads(rest[i], u.err) || !u.reads(rest[i], u.key) {
		return
	}
	c, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	isCheck := ok && c.Op == token.NEQ && u.object(c.X) == u.err && u.TypesInfo.Types[c.Y].IsNil()
	switch {
	case isCheck && !u.assigns(s.Body, u.key) && !mayLeave(s.Body):
		u.report(s.Cond, "after an error of %s the program continues with the id 0", u.name)
	case u.isErrorsIs(s.Cond):
		u.reportOther(s.Cond)
	}
}

var leaving = regexp.MustCompile(`(?i)(panic|fatal|exit|fail|abort|skip|must|check|throw|die)\w*$`)

// mayLeave reports whether a block has a statement that leaves it, or a call that may end the
// goroutine, as its name says.
func mayLeave(block *ast.BlockStmt) bool {
	return contains(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			return true
		case *ast.CallExpr:
			return leaving.MatchString(types.ExprString(n.Fun))
		}
		return false
	})
}

// assigns reports whether a node assigns to a variable, or takes its address.
func (p *pass) assigns(n ast.Node, o types.Object) bool {
	return contains(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, func(left ast.Expr) bool { return p.object(left) == o })
		case *ast.UnaryExpr:
			return n.Op == token.AND && p.object(n.X) == o
		}
		return false
	})
}

// reads reports whether a statement uses a variable other than by assigning to it.
func (p *pass) reads(s ast.Stmt, o types.Object) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok {
		return p.uses(s, o)
	}
	return slices.ContainsFunc(slices.Concat(a.Lhs, a.Rhs), func(e ast.Expr) bool {
		_, isName := e.(*ast.Ident)
		return p.uses(e, o) && (!isName || slices.Contains(a.Rhs, e))
	})
}
