package snowkeylint

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func formRule() rule {
	return rule{name: "snowform", run: runForm, doc: `find keys that are decimal although their type seems to declare a form

sqltype finds the method KeyForm by its name and exact signature, on the type in brackets. If the
signature differs, or the type in brackets is a pointer, keys are decimal, without an error.

	func (*Order) KeyForm() string                  // bad
	func (*Order) KeyForm() sqltype.Form            // good
	ID sqltype.Key[*Order]                          // bad
	ID sqltype.Key[Order]                           // good
	sqltype.Form{Prefix: "Order"}                   // bad: upper case
	return sqltype.Form{Prefix: o.kind}             // bad: o is nil or empty`}
}

func runForm(p *pass) {
	p.inspector.Preorder([]ast.Node{(*ast.FuncDecl)(nil), (*ast.IndexExpr)(nil), (*ast.CompositeLit)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			p.checkKeyForm(n)
		case *ast.IndexExpr:
			p.checkBrackets(n)
		case *ast.CompositeLit:
			p.checkPrefix(n)
		}
	})
}

func (p *pass) checkKeyForm(fn *ast.FuncDecl) {
	f, ok := p.TypesInfo.Defs[fn.Name].(*types.Func)
	if !ok || fn.Recv == nil || !p.Filled {
		return
	}
	s := f.Signature()
	form := s.Results().Len() == 1 && ids.Is(s.Results().At(0).Type(), ids.Sqltype, "Form")
	_, pointer := resultType(s).(*types.Pointer)
	switch {
	case f.Name() == "KeyForm" && s.Params().Len() == 0 && form && !pointer:
		p.checkReceiver(fn)
	case f.Name() == "KeyForm" && (form || p.hasKeys(s)):
		p.report(fn.Name, nil, "KeyForm%s has no effect, so keys of %s are decimal: its signature must be KeyForm() sqltype.Form",
			strings.TrimPrefix(p.name(s), "func"), receiver(s))
	case form && !pointer && s.Params().Len() == 0 && ids.Resembles(strings.ToLower(f.Name()), "keyform"):
		var fixes []analysis.SuggestedFix
		if !p.isUsed(f) {
			fixes = fix("rename it to KeyForm", replace(fn.Name, "KeyForm"))
		}
		p.report(fn.Name, fixes, "%s has no effect, so keys of %s are decimal: the method must be called KeyForm", f.Name(), receiver(s))
	}
}

// hasKeys reports whether the package has a Key of the method's receiver.
func (p *pass) hasKeys(s *types.Signature) bool {
	row := ids.Named(s.Recv().Type())
	for _, in := range p.TypesInfo.Instances {
		if ids.Is(in.Type, ids.Sqltype, "Key", "NullKey") && in.TypeArgs.Len() == 1 {
			if n := ids.Named(in.TypeArgs.At(0)); n != nil && row != nil && n.Obj() == row.Obj() {
				return true
			}
		}
	}
	return false
}

func resultType(s *types.Signature) types.Type {
	if s.Results().Len() != 1 {
		return nil
	}
	return types.Unalias(s.Results().At(0).Type())
}

func receiver(s *types.Signature) string {
	if n := ids.Named(s.Recv().Type()); n != nil {
		return n.Obj().Name()
	}
	return "its type"
}

// isUsed reports whether the package names a function besides its declaration.
func (p *pass) isUsed(f *types.Func) bool {
	for _, o := range p.TypesInfo.Uses {
		if o == f {
			return true
		}
	}
	return false
}

// checkReceiver reports a KeyForm that reads its receiver: it is called on a nil or an empty row.
func (p *pass) checkReceiver(fn *ast.FuncDecl) {
	if fn.Body == nil || len(fn.Recv.List) != 1 || len(fn.Recv.List[0].Names) != 1 {
		return
	}
	v := p.TypesInfo.Defs[fn.Recv.List[0].Names[0]]
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && v != nil && p.TypesInfo.Uses[id] == v {
			p.report(id, nil, "%s is nil or empty when KeyForm is called: the form must not depend on it", id.Name)
			return false
		}
		return true
	})
}

// checkBrackets reports a pointer as the type argument of a key.
func (p *pass) checkBrackets(n *ast.IndexExpr) {
	var id *ast.Ident
	switch x := ast.Unparen(n.X).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return
	}
	var name string
	switch o := p.TypesInfo.Uses[id].(type) {
	case *types.TypeName:
		if !ids.Is(o.Type(), ids.Sqltype, "Key", "NullKey") {
			return
		}
		name = o.Name()
	case *types.Func:
		if !ids.IsFunc(o, ids.Sqltype, "NewKey", "ParseKey") && !ids.IsFunc(o, ids.Root+"/pgxtype", "RegisterKey") {
			return
		}
		name = o.Name()
	default:
		return
	}
	ptr, ok := types.Unalias(p.TypesInfo.TypeOf(n.Index)).(*types.Pointer)
	if !ok {
		return
	}
	var fixes []analysis.SuggestedFix
	if star, ok := n.Index.(*ast.StarExpr); ok {
		fixes = fix("remove the *", analysis.TextEdit{Pos: star.Pos(), End: star.X.Pos()})
	}
	row := p.name(ptr.Elem())
	p.report(n.Index, fixes, "%s[*%s] does not have the form of %[2]s, so its texts are decimal: write %[1]s[%[2]s]", name, row)
}

// checkPrefix reports a constant prefix that Form.Check refuses.
func (p *pass) checkPrefix(n *ast.CompositeLit) {
	if !ids.Is(p.TypesInfo.TypeOf(n), ids.Sqltype, "Form") {
		return
	}
	for i, e := range n.Elts {
		value := e
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "Prefix" {
				continue
			}
			value = kv.Value
		} else if i > 0 {
			break
		}
		if prefix, ok := p.Constant(value); ok && !validPrefix(prefix) && !p.inTest(n.Pos()) {
			p.report(value, nil, "the prefix %q is invalid, so writing a key fails: it must be 1 to 63 of a-z and _, and begin and end with a letter", prefix)
		}
	}
}

func validPrefix(prefix string) bool {
	if prefix == "" {
		return true
	}
	other := func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }
	return len(prefix) <= 63 && !strings.ContainsFunc(prefix, other) && strings.Trim(prefix, "_") == prefix
}
