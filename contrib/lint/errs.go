package snowkeylint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func errRule() rule {
	return rule{name: "snowerr", run: runErr, doc: `find ignored errors of calls that issue ids

Next, Fill, sqltype.New, NewKey and Assign fail if the clock is wrong, the lease is lost or the context
is done. Then they issue no id, and the key stays 0.

	id, _ := gen.Next(ctx)  // bad
	gen.Fill(ctx, ids)      // bad
	id, err := gen.Next(ctx)
	if err != nil {         // good
		return err
	}`}
}

func runErr(p *pass) {
	for cur := range p.inspector.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		name := p.IsFallible(ids.Callee(p.TypesInfo, call))
		if name == "" || p.inTest(call.Pos()) {
			continue
		}
		parent := cur.Parent()
		for {
			if _, ok := parent.Node().(*ast.ParenExpr); !ok {
				break
			}
			parent = parent.Parent()
		}
		switch s := parent.Node().(type) {
		case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
			p.report(call, nil, "the error of %s is ignored: without an id the key stays 0", name)
		case *ast.AssignStmt:
			if len(s.Rhs) != 1 {
				break
			}
			last := s.Lhs[len(s.Lhs)-1]
			if id, ok := last.(*ast.Ident); ok && id.Name == "_" {
				p.report(call, nil, "the error of %s is ignored: without an id the key stays 0", name)
			} else if ok {
				p.checkFollowing(s, id, name, parent.Parent().Node())
			}
		case *ast.CallExpr:
			p.checkWrapper(s, call, name)
		case *ast.ValueSpec:
			if n := len(s.Names); len(s.Values) == 1 && n > 0 && s.Names[n-1].Name == "_" {
				p.report(call, nil, "the error of %s is ignored: without an id the key stays 0", name)
			}
		}
	}
}

// checkWrapper reports a call that passes id and error to a function that drops the error.
func (p *pass) checkWrapper(outer, call *ast.CallExpr, name string) {
	f := ids.Callee(p.TypesInfo, outer)
	if f == nil || len(outer.Args) != 1 || f.Signature().Params().Len() != 2 {
		return
	}
	if v := f.Signature().Params().At(1); isError(v.Type()) && (v.Name() == "_" || v.Name() == "") && f.Pkg() == p.Pkg {
		p.report(call, nil, "%s drops the error of %s: without an id the key stays 0", f.Name(), name)
	}
}

// checkFollowing checks what follows an assignment of an id and an error.
func (p *pass) checkFollowing(s *ast.AssignStmt, id *ast.Ident, name string, parent ast.Node) {
	err := p.TypesInfo.ObjectOf(id)
	if err == nil {
		return
	}
	var key types.Object
	if first, ok := s.Lhs[0].(*ast.Ident); ok && len(s.Lhs) == 2 {
		key = p.TypesInfo.ObjectOf(first)
	}
	switch parent := parent.(type) {
	case *ast.IfStmt:
		if parent.Init == s {
			p.checkOneError(parent, err, key, name)
		}
	case *ast.BlockStmt:
		p.checkStatements(s, parent.List, err, key, name)
	case *ast.CaseClause:
		p.checkStatements(s, parent.Body, err, key, name)
	case *ast.CommClause:
		p.checkStatements(s, parent.Body, err, key, name)
	}
}

// checkOneError reports an if that continues with the id unless the error is a certain one.
func (p *pass) checkOneError(s *ast.IfStmt, err, key types.Object, name string) {
	not, ok := ast.Unparen(s.Cond).(*ast.UnaryExpr)
	if ok && not.Op == token.NOT && p.isErrorsIs(not.X, err) && key != nil && p.mentionsObject(s.Body, key) {
		p.report(s.Cond, nil, "after another error of %s the program continues with the id 0: compare the error with nil", name)
	}
}

func (p *pass) isErrorsIs(e ast.Expr, err types.Object) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && ids.IsFunc(ids.Callee(p.TypesInfo, call), "errors", "Is", "As") && len(call.Args) == 2 && p.Object(call.Args[0]) == err
}

func (p *pass) mentionsObject(n ast.Node, o types.Object) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.TypesInfo.Uses[id] == o {
			found = true
		}
		return !found
	})
	return found
}

// checkStatements checks the statements after an assignment: the error must be read before
// another call overwrites it, and the id must not be used after an error.
func (p *pass) checkStatements(s *ast.AssignStmt, list []ast.Stmt, err, key types.Object, name string) {
	at := slices.Index(list, ast.Stmt(s))
	for i := at + 1; at >= 0 && i < len(list); i++ {
		next := list[i]
		assign, isAssign := next.(*ast.AssignStmt)
		if isAssign && (assign.Tok == token.ASSIGN || assign.Tok == token.DEFINE) && p.assigns(assign, err) {
			if !p.reads(assign, err) {
				p.report(s.Rhs[0], nil, "the error of %s is overwritten before it is read", name)
			}
			return
		}
		if branch, ok := next.(*ast.IfStmt); ok && branch.Init == nil && p.reads(&ast.ExprStmt{X: branch.Cond}, err) {
			p.checkBranch(branch, list[i+1:], err, key, name)
			return
		}
		if p.reads(next, err) {
			return
		}
		switch next.(type) {
		case *ast.AssignStmt, *ast.ExprStmt, *ast.DeclStmt, *ast.IncDecStmt:
		default:
			return // it may leave the block
		}
	}
}

// checkBranch reports a branch for the error after which the statements that follow use the id
// all the same.
func (p *pass) checkBranch(s *ast.IfStmt, rest []ast.Stmt, err, key types.Object, name string) {
	if key == nil || s.Else != nil {
		return
	}
	used := false
	for _, next := range rest {
		if p.reads(next, err) {
			break
		}
		if assign, ok := next.(*ast.AssignStmt); ok && p.assigns(assign, key) && !p.reads(assign, key) {
			break
		}
		if p.mentionsObject(next, key) {
			used = true
			break
		}
	}
	if !used {
		return
	}
	if c, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr); ok && c.Op == token.NEQ && p.Object(c.X) == err && p.TypesInfo.Types[c.Y].IsNil() {
		if !p.changes(s.Body, key) && !p.mayLeave(s.Body) {
			p.report(s.Cond, nil, "after an error of %s the program continues with the id 0", name)
		}
		return
	}
	if p.isErrorsIs(s.Cond, err) {
		p.report(s.Cond, nil, "after another error of %s the program continues with the id 0: compare the error with nil", name)
	}
}

// changes reports whether a block assigns a variable.
func (p *pass) changes(block *ast.BlockStmt, o types.Object) bool {
	found := false
	ast.Inspect(block, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && p.assigns(a, o) {
			found = true
		}
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND && p.Object(u.X) == o {
			found = true
		}
		return !found
	})
	return found
}

// mayLeave reports whether a block has a statement that leaves it, or a call that may end the
// goroutine: a function whose name says so, or one of the package that is not known.
func (p *pass) mayLeave(block *ast.BlockStmt) bool {
	found := false
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt:
			found = true
		case *ast.CallExpr:
			name := ""
			if id := lastIdent(n.Fun); id != nil {
				name = strings.ToLower(id.Name)
			}
			for _, leaving := range []string{"panic", "fatal", "exit", "fail", "abort", "skip", "must", "check", "throw", "die"} {
				found = found || strings.Contains(name, leaving)
			}
		}
		return !found
	})
	return found
}

func (p *pass) assigns(s *ast.AssignStmt, o types.Object) bool {
	for _, left := range s.Lhs {
		if id, ok := left.(*ast.Ident); ok && p.TypesInfo.ObjectOf(id) == o {
			return true
		}
	}
	return false
}

// reads reports whether a statement uses a variable other than by assigning to it.
func (p *pass) reads(s ast.Stmt, o types.Object) bool {
	targets := map[*ast.Ident]bool{}
	if a, ok := s.(*ast.AssignStmt); ok {
		for _, left := range a.Lhs {
			if id, ok := left.(*ast.Ident); ok {
				targets[id] = true
			}
		}
	}
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !targets[id] && p.TypesInfo.ObjectOf(id) == o {
			found = true
		}
		return !found
	})
	return found
}
