package snowkeylint

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func jsonRule() rule {
	return rule{name: "snowjson", run: runJSON, doc: `find ids that are numbers in JSON

JavaScript and many other JSON parsers read numbers as float64, which changes the last digits of an
id. A sqltype.ID and a sqltype.Key are strings in JSON; an int64 needs the option string.

	ID int64      ` + "`json:\"id\"`" + `        // bad
	ID int64      ` + "`json:\"id,string\"`" + ` // good
	ID sqltype.ID ` + "`json:\"id\"`" + `        // good
	json.Marshal(map[string]any{"id": int64(order.ID)}) // bad

A field counts as an id if it has the tag snowflake, if the program assigns ids to it, or if it is
the foreign key OrderID of such an Order.`}
}

func runJSON(p *pass) {
	sinks := p.findSinks()
	p.inspector.Preorder([]ast.Node{(*ast.TypeSpec)(nil), (*ast.StructType)(nil), (*ast.CallExpr)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				o, _ := p.TypesInfo.Defs[n.Name].(*types.TypeName)
				sinks.done[s] = true
				if o != nil && !hasMethod(o.Type(), "MarshalJSON") && !hasMethod(o.Type(), "MarshalText") {
					p.checkJSONFields(s, sinks.types[o])
				}
			}
		case *ast.StructType:
			if !sinks.done[n] {
				p.checkJSONFields(n, false)
			}
		case *ast.CallExpr:
			p.checkFormat(n)
		}
	})
	for _, e := range sinks.exprs {
		if p.Kind(e) == ids.Number && isBare(p.TypesInfo.TypeOf(e)) && p.TypesInfo.Types[e].Value == nil {
			p.report(e, nil, "the id %s is a number in JSON, which JavaScript rounds: pass a sqltype.ID", p.text(e))
		}
	}
}

// checkJSONFields reports the fields of a struct that are ids and numbers in JSON. If written is
// set, fields without a tag count, too.
func (p *pass) checkJSONFields(s *ast.StructType, written bool) {
	for _, f := range p.fields(s) {
		tag, tagged := reflect.StructTag(f.tag).Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if !tagged && !written || tag == "-" || !f.v.Exported() {
			continue
		}
		quoted := slices.Contains(strings.Split(options, ","), "string")
		switch kind := p.KindOf(f.v); {
		case kind == ids.Number && isBare(f.v.Type()) && !quoted:
			var fixes []analysis.SuggestedFix
			if len(f.Names) == 1 {
				fixes = fix("add ,string", f.retag("json", name+strings.TrimSuffix(","+options, ",")+",string"))
			}
			p.report(f, fixes, "the id %s is a number in JSON, which JavaScript rounds: use sqltype.ID, or add \",string\" to its json tag", f.v.Name())
		case kind == ids.Numbers && isBareList(f.v.Type()):
			p.report(f, nil, "the ids in %s are numbers in JSON, which JavaScript rounds, and the option string has no effect on them: use elements of type sqltype.ID", f.v.Name())
		}
	}
}

// isBare reports whether JSON writes a type as a number that may have 64 bits.
func isBare(t types.Type) bool {
	if ids.IsID(t) || hasMethod(t, "MarshalJSON", "MarshalText") {
		return false
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return false
	}
	switch b.Kind() {
	case types.Int, types.Int64, types.Uint, types.Uint64:
		return true
	}
	return false
}

func isBareList(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return isBare(t.Elem())
	case *types.Map:
		return isBare(t.Elem())
	}
	return false
}

// sinks are what the package writes as JSON.
type sinks struct {
	p       *pass
	seen    map[ast.Expr]bool
	exprs   []ast.Expr
	types   map[*types.TypeName]bool
	stored  map[types.Object][]ast.Expr // what is assigned to the elements of a map or a list
	objects map[types.Object]bool
	done    map[*ast.StructType]bool
}

func (p *pass) findSinks() *sinks {
	s := &sinks{
		p: p, seen: map[ast.Expr]bool{}, types: map[*types.TypeName]bool{}, stored: map[types.Object][]ast.Expr{},
		objects: map[types.Object]bool{}, done: map[*ast.StructType]bool{},
	}
	var roots []ast.Expr
	p.inspector.Preorder([]ast.Node{(*ast.AssignStmt)(nil), (*ast.CallExpr)(nil), (*ast.CompositeLit)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if index, ok := left.(*ast.IndexExpr); ok && len(n.Lhs) == len(n.Rhs) {
					if o := p.Object(index.X); o != nil {
						s.stored[o] = append(s.stored[o], n.Rhs[i])
					}
				}
			}
		case *ast.CallExpr:
			if arg := p.jsonArgument(n); arg != nil {
				roots = append(roots, arg)
			}
		case *ast.CompositeLit:
			if isResponseMap(p.TypesInfo.TypeOf(n)) {
				roots = append(roots, n)
			}
		}
	})
	for _, e := range roots {
		s.add(e)
	}
	return s
}

// jsonArgument returns what a call writes as JSON, or nil.
func (p *pass) jsonArgument(call *ast.CallExpr) ast.Expr {
	f := ids.Callee(p.TypesInfo, call)
	if f == nil || len(call.Args) == 0 {
		return nil
	}
	switch {
	case ids.IsFunc(f, "encoding/json", "Marshal", "MarshalIndent"), ids.IsMethod(f, "encoding/json", "Encoder", "Encode"):
		return call.Args[0]
	case ids.IsFunc(f, "encoding/json/v2", "Marshal"):
		return call.Args[0]
	case ids.IsFunc(f, "encoding/json/v2", "MarshalWrite") && len(call.Args) > 1:
		return call.Args[1]
	}
	// Methods of the contexts of gin, echo and fiber, and render.JSON of chi.
	switch f.Name() {
	case "JSON", "IndentedJSON", "PureJSON", "AsciiJSON", "SecureJSON", "AbortWithStatusJSON", "JSONPretty":
		if f.Pkg() != nil && (f.Signature().Recv() != nil || f.Pkg().Name() == "render") {
			params := f.Signature().Params()
			for i := range min(params.Len(), len(call.Args)) {
				if types.IsInterface(params.At(i).Type()) && !ids.Is(params.At(i).Type(), "net/http", "ResponseWriter") {
					return call.Args[i]
				}
			}
		}
	}
	return nil
}

// isResponseMap reports whether t is gin.H, echo.Map or fiber.Map.
func isResponseMap(t types.Type) bool {
	n := ids.Named(t)
	if n == nil || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Name() + "." + n.Obj().Name() {
	case "gin.H", "echo.Map", "fiber.Map":
		return true
	}
	return false
}

// add follows an expression that is written as JSON to what it consists of.
func (s *sinks) add(e ast.Expr) {
	e = ast.Unparen(e)
	if s.seen[e] {
		return
	}
	s.seen[e] = true
	s.exprs = append(s.exprs, e)
	s.addType(s.p.TypesInfo.TypeOf(e))
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			s.add(e.X)
		}
	case *ast.CompositeLit:
		switch t := s.p.TypesInfo.TypeOf(e).Underlying().(type) {
		case *types.Map:
			s.addElements(e, t.Elem())
		case *types.Slice:
			s.addElements(e, t.Elem())
		case *types.Struct:
			for _, item := range e.Elts {
				if kv, ok := item.(*ast.KeyValueExpr); ok && types.IsInterface(s.p.TypesInfo.TypeOf(kv.Key)) {
					s.add(kv.Value)
				}
			}
		}
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok && id.Name == "append" && s.p.TypesInfo.Types[id].IsBuiltin() {
			for _, arg := range e.Args {
				s.add(arg)
			}
			return
		}
		if f := ids.Callee(s.p.TypesInfo, e); f != nil {
			for _, results := range s.p.Returns(f) {
				if len(results) == 1 {
					s.add(results[0])
				}
			}
		}
	case *ast.Ident, *ast.SelectorExpr:
		s.addObject(s.p.Object(e))
	}
}

func (s *sinks) addElements(e *ast.CompositeLit, elem types.Type) {
	if !types.IsInterface(elem) && !isMap(elem) {
		if isInteger64(elem) {
			for _, item := range e.Elts {
				s.addItem(item)
			}
		}
		return
	}
	for _, item := range e.Elts {
		s.addItem(item)
	}
}

func (s *sinks) addItem(item ast.Expr) {
	if kv, ok := item.(*ast.KeyValueExpr); ok {
		item = kv.Value
	}
	s.add(item)
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func isInteger64(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Int64 || b.Kind() == types.Uint64)
}

func (s *sinks) addObject(o types.Object) {
	v, ok := o.(*types.Var)
	if !ok || s.objects[o] || v.Pkg() != s.p.Pkg || v.IsField() && !types.IsInterface(v.Type()) {
		return
	}
	s.objects[o] = true
	if types.IsInterface(v.Type()) || isMap(v.Type()) || isList(v.Type()) {
		for _, from := range s.p.Into(o) {
			if from.Result < 0 {
				s.add(from.Expr)
			}
		}
		for _, e := range s.stored[o] {
			s.add(e)
		}
	}
	if f, i := s.p.Parameter(o); f != nil {
		for _, args := range s.p.Calls(f) {
			if i < len(args) {
				s.add(args[i])
			}
		}
	}
}

func isList(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// addType marks a struct of the package, and those in its fields, as written.
func (s *sinks) addType(t types.Type) {
	if m, ok := underlying(t).(*types.Map); ok {
		t = m.Elem()
	}
	o := rowType(t)
	if o == nil || o.Pkg() != s.p.Pkg || s.types[o] {
		return
	}
	s.types[o] = true
	if st, ok := o.Type().Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			s.addType(f.Type())
		}
	}
}

func underlying(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

var (
	verb = regexp.MustCompile(`%[-+# 0]*[\d*.]*(?:\[\d+\])?[a-zA-Z%]`)
	// member ends where a format writes a value without quotes.
	member = regexp.MustCompile(`"\s*:\s*$|^\s*\[\s*$`)
)

// checkFormat reports an id that a format such as {"id": %d} writes without quotes.
func (p *pass) checkFormat(call *ast.CallExpr) {
	f := ids.Callee(p.TypesInfo, call)
	if !ids.IsFunc(f, "fmt", "Sprintf", "Fprintf", "Printf", "Appendf", "Errorf") {
		return
	}
	first := 0
	if f.Name() == "Fprintf" || f.Name() == "Appendf" {
		first = 1
	}
	if len(call.Args) <= first+1 {
		return
	}
	format, ok := p.Constant(call.Args[first])
	if !ok || !strings.ContainsAny(format, "{[") {
		return
	}
	arg := first
	for _, at := range verb.FindAllStringIndex(format, -1) {
		text := format[at[0]:at[1]]
		if text == "%%" {
			continue
		}
		if arg++; arg >= len(call.Args) || strings.ContainsAny(text, "*[") {
			return
		}
		e := call.Args[arg]
		if (text == "%d" || text == "%v") && member.MatchString(format[:at[0]]) && p.Kind(e) == ids.Number && (text == "%d" || !ids.HasForm(p.TypesInfo.TypeOf(e))) {
			p.report(e, nil, "the id %s is a number in this JSON, which JavaScript rounds: put quotes around %s", p.text(e), text)
		}
	}
}
