package snowkeylint

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

// isHook reports whether a method is a hook that gorm calls for each row, or bun for each query.
func isHook(f *types.Func) bool {
	if f.Signature().Recv() == nil {
		return false
	}
	switch f.Name() {
	case "BeforeCreate", "BeforeSave", "AfterCreate", "AfterSave", "BeforeUpdate", "AfterUpdate", "BeforeDelete", "AfterDelete", "AfterFind":
		return f.Signature().Params().Len() == 1 && ids.Is(f.Signature().Params().At(0).Type(), gorm, "DB")
	case "BeforeAppendModel", "BeforeInsert":
		return true
	}
	return false
}

// idLeaves reports whether an id of a generator that stays in a function leaves it: as a result,
// or in a field of a parameter or of the receiver, or as an argument of a statement that a method runs.
func (p *pass) idLeaves(fn *ast.FuncDecl, f *types.Func, gen types.Object) bool {
	taken := map[types.Object]bool{}
	outer := map[types.Object]bool{}
	for v := range f.Signature().Params().Variables() {
		outer[v] = true
	}
	if r := f.Signature().Recv(); r != nil {
		outer[r] = true
	}
	leaves := false
	fromGen := func(e ast.Expr) bool {
		found := false
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if p.issues(gen, n) {
					found = true
				}
			case *ast.Ident:
				if taken[p.TypesInfo.Uses[n]] {
					found = true
				}
			}
			return !found
		})
		return found
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				right := n.Rhs[min(i, len(n.Rhs)-1)]
				if i > 0 && len(n.Rhs) == 1 || !fromGen(right) {
					continue
				}
				if root := rootOf(left); root != nil {
					switch o := p.TypesInfo.ObjectOf(root); {
					case outer[o] && left != ast.Expr(root):
						leaves = true
					case o != nil && !outer[o]:
						taken[o] = true
					}
				}
			}
		case *ast.ReturnStmt:
			for i, e := range n.Results {
				if i < f.Signature().Results().Len() && !isError(f.Signature().Results().At(i).Type()) && fromGen(e) {
					leaves = true
				}
			}
		case *ast.CallExpr:
			g := ids.Callee(p.TypesInfo, n)
			if f.Signature().Recv() == nil || g == nil || p.IsFallible(g) != "" || !strings.HasPrefix(g.Name(), "Exec") && g.Name() != "Create" {
				return true
			}
			for _, arg := range n.Args {
				if fromGen(arg) {
					leaves = true
				}
			}
		}
		return !leaves
	})
	return leaves
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// rootOf returns the variable at the beginning of an expression such as o.Lines[i].ID.
func rootOf(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
