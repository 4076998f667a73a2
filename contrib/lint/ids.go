package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// idInfo says which values of a package are ids, although their type is int64. A value is an id if
// its type is one of package sqltype, if it comes from a generator or from the conversion of an id,
// if its field has the tag snowflake or is the foreign key of such a field, or if the package
// assigns an id to its variable, field or result. The order of statements plays no part, and
// nothing follows an argument into a function.
type idInfo struct {
	*analysis.Pass
	relevant bool // the package uses snowkey, or a package that does
	imports  bool // it imports a package of snowkey

	kinds       map[types.Object]kind
	assignments []assignment
	into        map[types.Object][]assignment
	wanted      []ast.Expr // conversions to an id type
}

// kind says how a value holds ids.
type kind uint8

const (
	none   kind = iota
	number      // an integer
	list        // a list or a map of integers
)

// An assignment of an expression, or of one result of a call, to a variable, a field, or a result
// of a function.
type assignment struct {
	to     types.Object
	from   ast.Expr
	result int // of a call with several results, or -1
	part   part
}

type part uint8

const (
	whole       part = iota
	fromElement      // an element of the value to the object
	intoElement      // the value to an element of the object
)

// findIDs makes the analyzer that the rules share. It reports nothing.
func findIDs() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "snowids", Doc: "find the values that are ids",
		Requires:   []*analysis.Analyzer{inspect.Analyzer},
		ResultType: reflect.TypeFor[*idInfo](),
		Run: func(pass *analysis.Pass) (any, error) {
			in := &idInfo{Pass: pass, kinds: map[types.Object]kind{}, into: map[types.Object][]assignment{}}
			root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
			if in.findImports(); !in.relevant {
				for cur := range root.Preorder((*ast.Field)(nil)) {
					in.relevant = in.relevant || isSnowflake(tagOf(cur.Node().(*ast.Field)))
				}
			}
			if in.relevant {
				for cur := range root.Preorder() {
					in.collect(cur)
				}
				in.spread()
			}
			return in, nil
		},
	}
}

func (in *idInfo) findImports() {
	for _, p := range in.Pkg.Imports() {
		in.imports = in.imports || isOurPath(p.Path())
		for _, indirect := range p.Imports() {
			in.relevant = in.relevant || isOurPath(indirect.Path())
		}
	}
	in.relevant = in.relevant || in.imports
}

// collect records what a node assigns, and what is an id by itself.
func (in *idInfo) collect(cur inspector.Cursor) {
	switch n := cur.Node().(type) {
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
			for i, to := range n.Lhs {
				in.assignTo(to, i, len(n.Lhs), n.Rhs)
			}
		}
	case *ast.ValueSpec:
		for i, to := range n.Names {
			in.assignTo(to, i, len(n.Names), n.Values)
		}
	case *ast.RangeStmt:
		if n.Value != nil {
			in.assign(in.object(n.Value), n.X, -1, fromElement)
		}
	case *ast.ReturnStmt:
		for up := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
			if fn, ok := up.Node().(*ast.FuncDecl); ok {
				results := in.TypesInfo.Defs[fn.Name].(*types.Func).Signature().Results()
				for i := range results.Len() {
					in.assignOne(results.At(i), i, results.Len(), n.Results, whole)
				}
			}
			break
		}
	case *ast.CompositeLit:
		in.assignFields(n)
	case *ast.StructType:
		in.markKeys(in.TypesInfo.TypeOf(n).(*types.Struct))
	case *ast.CallExpr:
		if operand := in.converted(n); operand != nil {
			if isID(in.TypesInfo.TypeOf(n)) && !isID(in.TypesInfo.TypeOf(operand)) {
				in.wanted = append(in.wanted, n)
			}
		} else if in.isFill(in.callee(n)) && len(n.Args) == 2 {
			in.mark(in.object(n.Args[1]), list)
		}
	}
}

func (in *idInfo) assign(to types.Object, from ast.Expr, result int, p part) {
	if to != nil {
		a := assignment{to, ast.Unparen(from), result, p}
		in.assignments = append(in.assignments, a)
		in.into[to] = append(in.into[to], a)
	}
}

// assignTo records the assignment to the expression i of n.
func (in *idInfo) assignTo(to ast.Expr, i, n int, from []ast.Expr) {
	p := whole
	if index, ok := ast.Unparen(to).(*ast.IndexExpr); ok {
		to, p = index.X, intoElement
	}
	in.assignOne(in.object(to), i, n, from, p)
}

// assignOne records the assignment to the object i of n.
func (in *idInfo) assignOne(to types.Object, i, n int, from []ast.Expr, p part) {
	switch len(from) {
	case n:
		in.assign(to, from[i], -1, p)
	case 1:
		in.assign(to, from[0], i, p)
	}
}

func (in *idInfo) assignFields(n *ast.CompositeLit) {
	s := structOf(in.TypesInfo.TypeOf(n)) // also for an element of []*T{{…}}
	for i, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && s != nil {
			in.assign(in.object(kv.Key), kv.Value, -1, whole)
		} else if s != nil && i < s.NumFields() {
			in.assign(s.Field(i).Origin(), e, -1, whole)
		}
	}
}

// markKeys marks the fields of a struct that have the tag snowflake, and the field OrderID if the
// struct has a field Order, or the package a type Order, whose key is an id.
func (in *idInfo) markKeys(s *types.Struct) {
	owners := map[string]types.Type{}
	for f := range s.Fields() {
		owners[f.Name()] = f.Type()
	}
	for i := range s.NumFields() {
		f := s.Field(i)
		name := strings.TrimSuffix(strings.TrimSuffix(f.Name(), "ID"), "Id")
		owner := owners[name]
		if o := in.Pkg.Scope().Lookup(name); owner == nil && o != nil && !isSmall(f.Type()) {
			owner = o.Type()
		}
		if isSnowflake(s.Tag(i)) || name != f.Name() && isIDField(owner, "ID") {
			in.mark(f, number)
		}
	}
}

// isIDField reports whether a field of a struct has the type of an id, or the tag snowflake.
func isIDField(t types.Type, name string) bool {
	s := structOf(t)
	for i := 0; s != nil && i < s.NumFields(); i++ {
		if f := s.Field(i); f.Name() == name {
			return isID(f.Type()) || isSnowflake(s.Tag(i)) && fits(f.Type(), number)
		}
	}
	return false
}

// mark records the kind of an object whose type can hold it, and reports whether that is news.
func (in *idInfo) mark(o types.Object, k kind) bool {
	if o == nil || k == none || in.kinds[o] != none || !fits(o.Type(), k) {
		return false
	}
	in.kinds[o] = k
	return true
}

func fits(t types.Type, k kind) bool {
	if k == list {
		t = elementOf(t)
	}
	b := basicOf(t)
	return b != nil && b.Info()&types.IsInteger != 0
}

// spread follows the assignments until nothing more becomes an id.
func (in *idInfo) spread() {
	for changed := true; changed; {
		changed = false
		for _, a := range in.assignments {
			k := in.resultKind(a.from, a.result)
			switch {
			case a.part == fromElement && k == list:
				k = number
			case a.part == intoElement && k == number:
				k = list
			case a.part != whole:
				k = none
			}
			changed = in.mark(a.to, k) || changed
		}
	}
}

// resultKind returns the kind of a result of a call, or of an expression if result is -1.
func (in *idInfo) resultKind(e ast.Expr, result int) kind {
	if result < 0 {
		return in.kind(e)
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return none
	}
	switch f := in.callee(call); {
	case f == nil || result >= f.Signature().Results().Len():
		return none
	case result == 0 && in.isNext(f), isMethod(f, sqltypePath, "Int64"):
		return number
	default:
		return in.kinds[f.Signature().Results().At(result)]
	}
}

// kind returns the kind of an expression.
func (in *idInfo) kind(e ast.Expr) kind {
	e = ast.Unparen(e)
	t := in.TypesInfo.TypeOf(e)
	if b, ok := e.(*ast.BinaryExpr); t == nil || ok && b.Op != token.ADD {
		return none // a remainder or a few bits
	}
	switch {
	case isID(t):
		return number
	case isID(elementOf(t)):
		return list
	}
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return in.kind(e.X)
		}
	case *ast.SelectorExpr:
		if isIDField(in.TypesInfo.TypeOf(e.X), e.Sel.Name) { // maybe of another package
			return number
		}
	case *ast.IndexExpr:
		if in.kind(e.X) == list {
			return number
		}
	case *ast.CompositeLit:
		if fits(t, list) && len(e.Elts) > 0 && in.kind(valueOf(e.Elts[0])) == number {
			return list
		}
	case *ast.CallExpr:
		return in.callKind(e)
	}
	return in.kinds[in.object(e)]
}

func (in *idInfo) callKind(call *ast.CallExpr) kind {
	if operand := in.converted(call); operand != nil {
		if t := in.TypesInfo.TypeOf(call); isSmall(t) || !fits(t, number) && !fits(t, list) {
			return none
		}
		return in.kind(operand)
	}
	if in.isAppend(call) && len(call.Args) > 1 && (in.kind(call.Args[0]) == list || in.kind(call.Args[1]) != none) {
		return list
	}
	if f := in.callee(call); f == nil || f.Signature().Results().Len() > 1 {
		return none
	}
	return in.resultKind(call, 0)
}

// isSmall reports whether t has fewer than 64 bits everywhere: a converted id is no id any more.
func isSmall(t types.Type) bool {
	return isKind(t, types.Int8, types.Int16, types.Int32, types.Uint8, types.Uint16, types.Uint32)
}

// valueOf returns the value of an element of a composite literal.
func valueOf(e ast.Expr) ast.Expr {
	if kv, ok := e.(*ast.KeyValueExpr); ok {
		return kv.Value
	}
	return e
}

// object returns the variable or the field that an expression names, or nil.
func (in *idInfo) object(e ast.Expr) types.Object {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return in.object(x.X)
	case *ast.StarExpr:
		return in.object(x.X)
	case *ast.SliceExpr:
		return in.object(x.X)
	case *ast.SelectorExpr:
		return in.object(x.Sel)
	case *ast.Ident:
		if v, ok := in.TypesInfo.ObjectOf(x).(*types.Var); ok {
			return v.Origin()
		}
	}
	return nil
}
