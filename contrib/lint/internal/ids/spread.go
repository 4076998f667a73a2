package ids

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

// spread follows the assignments until nothing more becomes an id.
func (in *Info) spread() {
	for changed := true; changed; {
		changed = false
		for _, f := range in.flows {
			if in.kinds[f.to] != None {
				continue
			}
			k := in.sourceKind(f.source)
			switch f.way {
			case fromElement:
				k = k.element()
			case intoElement:
				k = k.list()
			}
			if k != None && fits(f.to.Type(), k) {
				in.kinds[f.to] = k
				changed = true
			}
		}
		for f := range in.returns {
			changed = in.spreadResults(f) || changed
		}
		for o, p := range in.params {
			if in.kinds[o] == None && !in.values[p.of] {
				if k := in.argument(o, p); k != None && fits(o.Type(), k) {
					in.kinds[o] = k
					changed = true
				}
			}
		}
	}
}

// spreadResults finds out which results of a function are ids: those of which every return does.
func (in *Info) spreadResults(f *types.Func) (changed bool) {
	n := f.Signature().Results().Len()
	if in.results[f] == nil {
		in.results[f] = make([]Kind, n)
	}
	for i := range n {
		if in.results[f][i] != None {
			continue
		}
		k := None
		for _, exprs := range in.returns[f] {
			var one Kind
			switch {
			case len(exprs) == n:
				if in.isEmpty(exprs[i]) {
					continue
				}
				one = in.Kind(exprs[i])
			case len(exprs) == 1:
				one = in.sourceKind(source{ast.Unparen(exprs[0]), i})
			}
			if one == None {
				k = None
				break
			}
			k = one
		}
		if k != None && fits(f.Signature().Results().At(i).Type(), k) {
			in.results[f][i] = k
			changed = true
		}
	}
	return changed
}

// argument returns the kind that every call passes for a parameter.
func (in *Info) argument(o types.Object, p param) Kind {
	k := None
	for _, args := range in.calls[p.of] {
		if len(args) != p.of.Signature().Params().Len() || p.of.Signature().Variadic() {
			return None
		}
		if in.Object(args[p.index]) == o { // it passes on its own parameter
			continue
		}
		if k = in.Kind(args[p.index]); k == None {
			return None
		}
	}
	return k
}

// isEmpty reports whether an expression is a constant or nil: it says nothing of what a result is.
func (in *Info) isEmpty(e ast.Expr) bool {
	tv := in.pass.TypesInfo.Types[e]
	return tv.Value != nil || tv.IsNil()
}

func (in *Info) sourceKind(s source) Kind {
	if s.result < 0 {
		return in.Kind(s.from)
	}
	call, ok := s.from.(*ast.CallExpr)
	if !ok {
		return None
	}
	f := Callee(in.pass.TypesInfo, call)
	switch {
	case f == nil:
		return None
	case s.result == 0 && (in.IsSource(f) || IsMethod(f, Root+"/core", "Layout", "Compose", "FirstAt")),
		s.result < 2 && IsMethod(f, Root+"/core", "Layout", "Range"):
		return Number
	}
	if kinds := in.resultsOf(f); s.result < len(kinds) {
		return kinds[s.result]
	}
	return None
}

// Kind returns the kind of an expression.
func (in *Info) Kind(e ast.Expr) Kind {
	info := in.pass.TypesInfo
	t := info.TypeOf(e)
	if t == nil {
		return None
	}
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op != token.ADD {
		return None // a remainder or a few bits
	}
	if IsID(t) {
		return Number
	}
	if el := elem(t); el != nil && IsID(el) {
		return Numbers
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return in.Kind(e.X)
	case *ast.StarExpr:
		return in.Kind(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return in.Kind(e.X)
		}
	case *ast.Ident, *ast.SelectorExpr:
		return in.KindOf(in.Object(e))
	case *ast.IndexExpr:
		return in.Kind(e.X).element()
	case *ast.SliceExpr:
		if k := in.Kind(e.X); k == Numbers || k == Texts {
			return k
		}
	case *ast.CompositeLit:
		return in.literalKind(e)
	case *ast.CallExpr:
		return in.callKind(e)
	}
	return None
}

// literalKind returns the kind of a list whose first element is an id.
func (in *Info) literalKind(e *ast.CompositeLit) Kind {
	if elem(in.pass.TypesInfo.TypeOf(e)) == nil || len(e.Elts) == 0 {
		return None
	}
	first := e.Elts[0]
	if kv, ok := first.(*ast.KeyValueExpr); ok {
		first = kv.Value
	}
	return in.Kind(first).list()
}

func (in *Info) callKind(call *ast.CallExpr) Kind {
	info := in.pass.TypesInfo
	if operand := IsConversion(info, call); operand != nil {
		if k := in.Kind(operand); fits(info.TypeOf(call), k) && !isNarrow(info.TypeOf(call)) {
			return k
		}
		return None
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && id.Name == "append" && info.Types[id].IsBuiltin() && len(call.Args) > 0 {
		if k := in.Kind(call.Args[0]); k != None || len(call.Args) < 2 {
			return k
		}
		k := in.Kind(call.Args[1])
		if !call.Ellipsis.IsValid() {
			k = k.list()
		}
		return k
	}
	f := Callee(info, call)
	if f == nil {
		return None
	}
	if k := in.textOf(f, call); k != None {
		return k
	}
	if kinds := in.resultsOf(f); len(kinds) == 1 {
		return kinds[0]
	}
	return None
}

// textOf returns Text for a call that writes an id in decimal.
func (in *Info) textOf(f *types.Func, call *ast.CallExpr) Kind {
	number := func(i int) bool { return i < len(call.Args) && in.Kind(call.Args[i]) == Number }
	switch {
	case f.Name() == "Int64" && (IsMethod(f, Sqltype, "ID", "Int64") || IsMethod(f, Sqltype, "Key", "Int64")):
		return Number
	case IsMethod(f, Sqltype, "ID", "String"):
		return Text
	case IsMethod(f, Sqltype, "Key", "String"):
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && !HasForm(in.pass.TypesInfo.TypeOf(sel.X)) {
			return Text
		}
	case IsMethod(f, Sqltype, "ID", "Base32", "Base58", "Base62"), IsMethod(f, Sqltype, "Key", "Base32", "Base58", "Base62"):
		return Short
	case IsFunc(f, "strconv", "FormatInt", "FormatUint") && number(0), IsFunc(f, "strconv", "Itoa") && number(0),
		IsFunc(f, "fmt", "Sprint") && len(call.Args) == 1 && number(0) && in.isDecimal(call.Args[0]):
		return Text
	case IsFunc(f, "fmt", "Sprintf") && len(call.Args) == 2 && number(1):
		switch format, _ := in.Constant(call.Args[0]); format {
		case "%d":
			return Text
		case "%v", "%s":
			if in.isDecimal(call.Args[1]) {
				return Text
			}
		}
	}
	return None
}

// isDecimal reports whether fmt writes an id in decimal, and not in the form of its type.
func (in *Info) isDecimal(e ast.Expr) bool { return !HasForm(in.pass.TypesInfo.TypeOf(e)) }

// HasForm reports whether t is a sqltype.Key of a type that has a method KeyForm, or of a type
// parameter, which may have one.
func HasForm(t types.Type) bool {
	n := Named(t)
	if n == nil || !Is(n, Sqltype, "Key", "NullKey") || n.TypeArgs().Len() != 1 {
		return false
	}
	row := n.TypeArgs().At(0)
	if _, generic := row.(*types.TypeParam); generic {
		return true
	}
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(row), true, nil, "KeyForm")
	_, ok := m.(*types.Func)
	return ok
}

// Constant returns the text of a constant string.
func (in *Info) Constant(e ast.Expr) (string, bool) {
	v := in.pass.TypesInfo.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

func (k Kind) element() Kind {
	switch k {
	case Numbers:
		return Number
	case Texts:
		return Text
	}
	return None
}

func (k Kind) list() Kind {
	switch k {
	case Number:
		return Numbers
	case Text:
		return Texts
	}
	return None
}

// fits reports whether a type can hold an id of the kind.
func fits(t types.Type, k Kind) bool {
	switch k {
	case Number:
		return isInteger(t)
	case Text, Short:
		return isString(t)
	case Numbers:
		return elem(t) != nil && isInteger(elem(t))
	case Texts:
		return elem(t) != nil && isString(elem(t))
	}
	return false
}

// isNarrow reports whether an integer has fewer than 64 bits everywhere: a converted id is none.
func isNarrow(t types.Type) bool {
	b := basic(t)
	if b == nil {
		return false
	}
	switch b.Kind() {
	case types.Int8, types.Int16, types.Int32, types.Uint8, types.Uint16, types.Uint32:
		return true
	}
	return false
}

func unquote(tag *ast.BasicLit) string {
	text, err := strconv.Unquote(tag.Value)
	if err != nil {
		return ""
	}
	return text
}
