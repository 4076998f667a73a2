package ids

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// graph is what the statements of a package assign.
type graph struct {
	flows   []flow
	into    map[types.Object][]int       // the flows to an object
	calls   map[*types.Func][][]ast.Expr // the arguments of each call of a function of the package
	values  map[*types.Func]bool         // functions that are also used as values
	returns map[*types.Func][][]ast.Expr
	params  map[types.Object]param
	wants   []ast.Expr // conversions to an id type
	fixed   []int64    // see relevantFact
	// Foreign are foreign keys that refer to ids and cannot hold them.
	Foreign map[types.Object]bool
}

// A flow is an assignment of a value to an object.
type flow struct {
	to types.Object
	source
	way way
}

// way says what of a value an assignment assigns to what of an object.
type way uint8

const (
	whole       way = iota
	fromElement     // an element of the value
	intoElement     // the value to an element
)

// A source is an expression, or one result of a call that has several.
type source struct {
	from   ast.Expr
	result int
}

type param struct {
	of    *types.Func
	index int
}

func (in *Info) collect() {
	in.graph = graph{
		into: map[types.Object][]int{}, calls: map[*types.Func][][]ast.Expr{}, values: map[*types.Func]bool{},
		returns: map[*types.Func][][]ast.Expr{}, params: map[types.Object]param{}, Foreign: map[types.Object]bool{},
	}
	called := map[*ast.Ident]bool{}
	for _, file := range in.pass.Files {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				ast.Inspect(d, in.visit(called))
				continue
			}
			obj, ok := in.pass.TypesInfo.Defs[fn.Name].(*types.Func)
			if !ok || fn.Body == nil {
				continue
			}
			for i := range obj.Signature().Params().Len() {
				in.params[obj.Signature().Params().At(i)] = param{obj, i}
			}
			ast.Inspect(fn.Body, in.visit(called))
			in.collectReturns(obj, fn)
		}
	}
	for id, o := range in.pass.TypesInfo.Uses {
		if f, ok := o.(*types.Func); ok && f.Pkg() == in.pass.Pkg && !called[id] {
			in.values[f.Origin()] = true
		}
	}
	in.linkForeignKeys()
}

func (in *Info) visit(called map[*ast.Ident]bool) func(ast.Node) bool {
	info := in.pass.TypesInfo
	return func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
				in.assign(n.Lhs, n.Rhs)
			}
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				names[i] = name
			}
			in.assign(names, n.Values)
		case *ast.RangeStmt:
			if n.Value != nil {
				in.flow(in.Object(n.Value), source{n.X, -1}, fromElement)
			}
		case *ast.CompositeLit:
			in.literal(n)
		case *ast.StructType:
			in.tags(n)
		case *ast.CallExpr:
			switch fun := ast.Unparen(n.Fun).(type) {
			case *ast.Ident:
				called[fun] = true
			case *ast.SelectorExpr:
				called[fun.Sel] = true
			case *ast.IndexExpr:
				if id, ok := fun.X.(*ast.Ident); ok {
					called[id] = true
				}
			}
			if operand := IsConversion(info, n); operand != nil {
				if IsID(info.TypeOf(n)) && !IsID(info.TypeOf(operand)) {
					in.wants = append(in.wants, n)
				}
				break
			}
			f := Callee(info, n)
			if f == nil {
				break
			}
			if IsFunc(f, Root+"/core", "Fixed") && len(n.Args) == 1 && info.Types[n.Args[0]].Value != nil {
				if worker, ok := constant.Int64Val(constant.ToInt(info.Types[n.Args[0]].Value)); ok {
					in.fixed = append(in.fixed, worker)
				}
			}
			if in.isFill(f) && len(n.Args) == 2 {
				in.mark(in.Object(n.Args[1]), Numbers)
			}
			if IsFunc(f, Sqltype, "Assign", "Children") {
				in.addresses(n)
			}
			if f.Pkg() == in.pass.Pkg && !n.Ellipsis.IsValid() {
				in.calls[f] = append(in.calls[f], n.Args)
			}
		}
		return true
	}
}

func (in *Info) assign(to, from []ast.Expr) {
	switch {
	case len(to) == len(from):
		for i := range to {
			in.assignOne(to[i], source{from[i], -1})
		}
	case len(from) == 1:
		for i := range to {
			in.assignOne(to[i], source{ast.Unparen(from[0]), i})
		}
	}
}

func (in *Info) assignOne(to ast.Expr, s source) {
	if index, ok := ast.Unparen(to).(*ast.IndexExpr); ok {
		in.flow(in.Object(index.X), s, intoElement)
		return
	}
	in.flow(in.Object(to), s, whole)
}

func (in *Info) flow(to types.Object, s source, w way) {
	if to == nil {
		return
	}
	in.into[to] = append(in.into[to], len(in.flows))
	in.flows = append(in.flows, flow{to, s, w})
}

func (in *Info) literal(n *ast.CompositeLit) {
	t := in.pass.TypesInfo.TypeOf(n)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element of []*T{{…}}
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			in.flow(in.Object(kv.Key), source{kv.Value, -1}, whole)
		} else if i < s.NumFields() {
			in.flow(s.Field(i).Origin(), source{e, -1}, whole)
		}
	}
}

// tags marks the fields that the plugin fills.
func (in *Info) tags(n *ast.StructType) {
	for _, f := range n.Fields.List {
		if f.Tag == nil {
			continue
		}
		if ResemblesTag(f.Tag.Value) {
			in.Filled = true
		}
		k := tagged(unquote(f.Tag))
		for _, name := range f.Names {
			o := in.pass.TypesInfo.Defs[name]
			if k == Number && isString(o.Type()) {
				in.mark(o, Text)
			} else if k != None {
				in.mark(o, k)
			}
		}
	}
}

// addresses marks the fields whose addresses the functions of a call of Assign return.
func (in *Info) addresses(call *ast.CallExpr) {
	for _, arg := range call.Args {
		lit, ok := arg.(*ast.FuncLit)
		if !ok {
			continue
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
				if a, ok := ast.Unparen(r.Results[0]).(*ast.UnaryExpr); ok && a.Op == token.AND {
					in.mark(in.Object(a.X), Number)
				}
			}
			return true
		})
	}
}

func (in *Info) collectReturns(f *types.Func, fn *ast.FuncDecl) {
	if f.Signature().Results().Len() == 0 {
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			results := n.Results
			if len(results) == 0 {
				for _, field := range fn.Type.Results.List {
					for _, name := range field.Names {
						results = append(results, name)
					}
				}
			}
			in.returns[f] = append(in.returns[f], results)
		}
		return true
	})
}

// linkForeignKeys marks the field OrderID of a struct if it has a field Order of a type whose key is
// an id, or if the package has such a type Order.
func (in *Info) linkForeignKeys() {
	scope := in.pass.Pkg.Scope()
	keyed := map[string]bool{}
	var structs []*types.Struct
	for _, name := range scope.Names() {
		if t, ok := scope.Lookup(name).(*types.TypeName); ok {
			if s, ok := t.Type().Underlying().(*types.Struct); ok {
				structs = append(structs, s)
				keyed[strings.ToUpper(name[:1])+name[1:]] = in.hasKey(s)
			}
		}
	}
	for _, s := range structs {
		beside := map[string]types.Type{}
		for f := range s.Fields() {
			beside[f.Name()] = f.Type()
		}
		for f := range s.Fields() {
			name, ok := strings.CutSuffix(f.Name(), "ID")
			if !ok {
				name, ok = strings.CutSuffix(f.Name(), "Id")
			}
			if !ok || name == "" || in.kinds[f] != None || !isInteger(f.Type()) {
				continue
			}
			refers := false
			if n := Named(beside[name]); n != nil {
				row, ok := n.Underlying().(*types.Struct)
				refers = ok && in.hasKey(row)
			}
			switch {
			case isNarrow(f.Type()):
				if refers {
					in.Foreign[f] = true
				}
			case refers || isWide(f.Type()) && keyed[name]:
				in.mark(f, Number)
			}
		}
	}
}

// hasKey reports whether the field ID of a struct is an id.
func (in *Info) hasKey(s *types.Struct) bool {
	for f := range s.Fields() {
		if f.Name() == "ID" {
			return IsID(f.Type()) || in.KindOf(f) == Number
		}
	}
	return false
}

func isWide(t types.Type) bool {
	b := basic(t)
	return b != nil && (b.Kind() == types.Int64 || b.Kind() == types.Uint64)
}

func (in *Info) mark(o types.Object, k Kind) {
	if o != nil && fits(o.Type(), k) {
		in.kinds[o] = k
	}
}

// Object returns the variable or the field that an expression names, or nil.
func (in *Info) Object(e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.Ident:
			o := in.pass.TypesInfo.ObjectOf(x)
			if v, ok := o.(*types.Var); ok {
				return v.Origin()
			}
			return nil
		case *ast.SelectorExpr:
			if v, ok := in.pass.TypesInfo.ObjectOf(x.Sel).(*types.Var); ok {
				return v.Origin()
			}
			return nil
		default:
			return nil
		}
	}
}
