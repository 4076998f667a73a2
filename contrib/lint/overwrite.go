package snowkeylint

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

// checkOverwrite reports a method that puts a generator with a lease, of which o is the variable,
// into a field of its receiver, and does not look at what the field has. Only a method that takes
// a lock of the receiver for it is one that may run again: others prepare the receiver, before
// anything else uses it.
func (p *pass) checkOverwrite(cur inspector.Cursor, o types.Object) {
	fn := enclosing(cur)
	if fn == nil || fn.Recv == nil {
		return
	}
	f, ok := p.TypesInfo.Defs[fn.Name].(*types.Func)
	if !ok || len(p.Calls(f)) > 0 || runsFirst(f.Name()) {
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, left := range s.Lhs {
			sel, ok := left.(*ast.SelectorExpr)
			if !ok || !p.isOf(sel.X, f) {
				continue
			}
			field := p.Object(sel)
			if field != o && (len(s.Lhs) != len(s.Rhs) || p.Object(s.Rhs[i]) != o) {
				continue
			}
			if p.locksAndOverwrites(fn.Body, f, sel, field) {
				p.report(sel, nil, "this overwrites the generator in %s, whose worker ID then stays leased: close it first, or return if there is one", p.text(sel))
			}
		}
		return true
	})
}

// runsFirst reports whether a method is one that is called once by its name.
func runsFirst(name string) bool {
	for _, first := range []string{"Init", "Start", "Open", "Connect", "Setup", "Run"} {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(first)) {
			return true
		}
	}
	return false
}

// isOf reports whether an expression begins with the receiver of a method.
func (p *pass) isOf(e ast.Expr, f *types.Func) bool {
	root := rootOf(e)
	return root != nil && p.TypesInfo.Uses[root] == f.Signature().Recv()
}

// locksAndOverwrites reports whether a method's body takes a lock of the receiver before target,
// mentions its field nowhere else, and calls no method that may.
func (p *pass) locksAndOverwrites(body *ast.BlockStmt, f *types.Func, target *ast.SelectorExpr, field types.Object) bool {
	locks, alone := false, true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			alone = alone && (n == target || p.Object(n) != field)
		case *ast.CallExpr:
			sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			if !ok || !p.isOf(sel.X, f) {
				break
			}
			switch g := ids.Callee(p.TypesInfo, n); {
			case ids.IsMethod(g, "sync", "Mutex", "Lock"), ids.IsMethod(g, "sync", "RWMutex", "Lock"):
				locks = locks || n.Pos() < target.Pos()
			case g != nil && g.Pkg() == p.Pkg:
				alone = false
			}
		}
		return true
	})
	return locks && alone
}
