package snowkeylint

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/seed-299c1d6b/snowkey/snowkeylint/internal/ids"
)

func errRule() rule {
	return rule{name: "snowerr", run: runErr, doc: `find ignored errors of calls that issue ids

Next, Fill, sqltype.New, NewKey and Assign fail while a clock is wrong, a lease is lost or a context is
done. Then they issue no id: the next row would have the key 0.

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
		if name == "" {
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
				p.checkOverwritten(s, id, name, parent.Parent().Node())
			}
		case *ast.ValueSpec:
			if n := len(s.Names); len(s.Values) == 1 && n > 0 && s.Names[n-1].Name == "_" {
				p.report(call, nil, "the error of %s is ignored: without an id the key stays 0", name)
			}
		}
	}
}

// checkOverwritten reports an error that a later statement of the same block assigns anew before
// anything reads it.
func (p *pass) checkOverwritten(s *ast.AssignStmt, id *ast.Ident, name string, parent ast.Node) {
	err := p.TypesInfo.ObjectOf(id)
	block, ok := parent.(*ast.BlockStmt)
	if err == nil || !ok {
		return
	}
	after := false
	for _, next := range block.List {
		if next == s {
			after = true
			continue
		}
		if !after {
			continue
		}
		assign, isAssign := next.(*ast.AssignStmt)
		if isAssign && (assign.Tok == token.ASSIGN || assign.Tok == token.DEFINE) && p.assigns(assign, err) {
			if !p.reads(assign, err) {
				p.report(s.Rhs[0], nil, "the error of %s is overwritten before it is read", name)
			}
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
