package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
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
					use.setKey(s.Lhs[0])
				} else if len(call.Args) == 2 { // of Fill
					use.setKey(call.Args[1])
				}
				use.check(cur.Parent().Parent())
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
	field    string       // of key that gets the id, as it is written: o.ID
}

// setKey remembers the variable or field that gets the id.
func (u *issued) setKey(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		u.setKey(e.X)
	case *ast.SelectorExpr:
		u.key, u.field = u.object(e.X), types.ExprString(e)
	default:
		u.key = u.object(e)
	}
}

// check checks what follows, in the statement or block that has the assignment.
func (u issued) check(parent inspector.Cursor) {
	s, ok := parent.Node().(*ast.IfStmt)
	if !ok {
		u.checkStatements(statements(parent.Node()))
		return
	}
	// if id, err := gen.Next(ctx); !errors.Is(err, …) { … id … }
	not, ok := ast.Unparen(s.Cond).(*ast.UnaryExpr)
	if ok && not.Op == token.NOT && u.isErrorsIs(not.X) && u.usesKey(s.Body) {
		u.reportOther(s.Cond)
	}
	if s.Init == u.stmt {
		around := statements(parent.Parent().Node())
		u.checkBranch(s, around[slices.Index(around, ast.Stmt(s))+1:])
	}
}

// statements returns those of a block or of a case.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// usesKey reports whether a node uses the id: the variable, or of a struct the field or the whole.
func (u issued) usesKey(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt: // not what it assigns to
			for _, e := range n.Rhs {
				found = found || u.usesKey(e)
			}
			for _, e := range n.Lhs {
				if u.object(e) != u.key && types.ExprString(e) != u.field {
					found = found || u.usesKey(e)
				}
			}
			return false
		case *ast.SelectorExpr:
			if u.field != "" && u.object(n.X) == u.key {
				found = found || types.ExprString(n) == u.field
				return false
			}
		case *ast.Ident:
			found = found || u.key != nil && u.object(n) == u.key
		}
		return !found
	})
	return found
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
	if s.Else != nil || !u.continues(rest) {
		return
	}
	c, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	isCheck := ok && c.Op == token.NEQ && u.object(c.X) == u.err && u.TypesInfo.Types[c.Y].IsNil()
	switch {
	case isCheck && !u.replaces(s.Body) && !mayLeave(s.Body):
		u.report(s.Cond, "after an error of %s the program continues with the id 0", u.name)
	case u.isErrorsIs(s.Cond):
		u.reportOther(s.Cond)
	}
}

// continues reports whether statements use the id before they read the error or replace the id. An error
// that another call has overwritten is not that of the id.
func (u issued) continues(rest []ast.Stmt) bool {
	overwritten := false
	for _, next := range rest {
		first := next
		if s, ok := next.(*ast.IfStmt); ok && s.Init != nil {
			first = s.Init
		}
		a, ok := first.(*ast.AssignStmt)
		overwritten = overwritten || ok && u.assigns(a, u.err) && !u.reads(a, u.err)
		switch {
		case !overwritten && u.reads(next, u.err):
			return false
		case u.usesKey(next):
			return true
		case u.replaces(next):
			return false
		}
	}
	return false
}

// replaces reports whether a node assigns to the id, or passes it to a call that may.
func (u issued) replaces(n ast.Node) bool {
	return u.assigns(n, u.key) || contains(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return u.field != "" && slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return types.ExprString(e) == u.field })
		case *ast.CallExpr: // a slice that Fill fills again
			return slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return u.key != nil && u.object(e) == u.key })
		}
		return false
	})
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
