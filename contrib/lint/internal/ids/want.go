package ids

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Source is an expression whose value becomes an id, or a call of which one result does.
type Source struct {
	Expr   ast.Expr
	Result int // -1: the expression itself
}

// Sources are the expressions whose values become ids.
func (in *Info) Sources() []Source {
	all := make([]Source, 0, len(in.sources))
	for s := range in.sources {
		all = append(all, Source{s.from, s.result})
	}
	return all
}

// want follows the assignments backwards from the places that hold ids.
func (in *Info) want() {
	for _, e := range in.wants {
		in.wantSource(source{e, -1})
	}
	for _, f := range in.flows {
		if f.way == whole && (in.KindOf(f.to) == Number || IsID(f.to.Type())) {
			in.wantSource(f.source)
		}
	}
	for o, p := range in.params {
		if in.kinds[o] == Number {
			in.wantArguments(p)
		}
	}
}

func (in *Info) wantSource(s source) {
	s.from = ast.Unparen(s.from)
	if in.sources[s] {
		return
	}
	in.sources[s] = true
	switch e := s.from.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		in.wantObject(in.Object(e))
	case *ast.StarExpr:
		in.wantSource(source{e.X, s.result})
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			in.wantSource(source{e.X, s.result})
		}
	case *ast.CallExpr:
		if operand := IsConversion(in.pass.TypesInfo, e); operand != nil {
			in.wantSource(source{operand, -1})
			return
		}
		f := Callee(in.pass.TypesInfo, e)
		if f == nil {
			return
		}
		for _, exprs := range in.returns[f] {
			switch i := max(s.result, 0); {
			case i < len(exprs) && len(exprs) == f.Signature().Results().Len():
				in.wantSource(source{exprs[i], -1})
			case len(exprs) == 1:
				in.wantSource(source{exprs[0], i})
			}
		}
	}
}

func (in *Info) wantObject(o types.Object) {
	if o == nil || in.wanted[o] || o.Pkg() != in.pass.Pkg {
		return
	}
	in.wanted[o] = true
	for _, i := range in.into[o] {
		if in.flows[i].way == whole {
			in.wantSource(in.flows[i].source)
		}
	}
	if p, ok := in.params[o]; ok {
		in.wantArguments(p)
	}
}

func (in *Info) wantArguments(p param) {
	for _, args := range in.calls[p.of] {
		if p.index < len(args) && len(args) == p.of.Signature().Params().Len() {
			in.wantSource(source{args[p.index], -1})
		}
	}
}

// IsAssigned reports whether the package assigns something that is no constant to a variable.
func (in *Info) IsAssigned(o types.Object) bool {
	for _, i := range in.into[o] {
		if !in.isEmpty(in.flows[i].from) {
			return true
		}
	}
	return false
}

// Calls returns the arguments of each call of a function in its package.
func (in *Info) Calls(f *types.Func) [][]ast.Expr { return in.calls[f] }

// Returns returns the results of each return of a function in its package.
func (in *Info) Returns(f *types.Func) [][]ast.Expr { return in.returns[f] }

// Parameter returns the function whose parameter o is, and its index, or nil.
func (in *Info) Parameter(o types.Object) (*types.Func, int) {
	p, ok := in.params[o]
	if !ok {
		return nil, 0
	}
	return p.of, p.index
}

// Into returns what the package assigns to a variable or a field. Elements of a list that a loop
// assigns are left out.
func (in *Info) Into(o types.Object) (all []Source) {
	for _, i := range in.into[o] {
		if f := in.flows[i]; f.way == whole {
			all = append(all, Source{ast.Unparen(f.from), f.result})
		}
	}
	return all
}

// Lists returns the lists whose elements a loop assigns to a variable.
func (in *Info) Lists(o types.Object) (all []ast.Expr) {
	for _, i := range in.into[o] {
		if f := in.flows[i]; f.way == fromElement {
			all = append(all, ast.Unparen(f.from))
		}
	}
	return all
}
