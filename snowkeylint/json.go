package snowkeylint

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

func jsonRule() rule {
	return rule{name: "snowjson", run: runJSON, doc: `find ids that are numbers in JSON

JavaScript and many other JSON parsers read numbers as float64, which changes the last digits of an
id. A sqltype.ID and a sqltype.Key are strings in JSON; an int64 needs the option string.

	ID int64      ` + "`json:\"id\"`" + `        // bad
	ID int64      ` + "`json:\"id,string\"`" + ` // good
	ID sqltype.ID ` + "`json:\"id\"`" + `        // good
	json.Marshal(map[string]any{"id": int64(order.ID)}) // bad`}
}

func runJSON(p *pass) {
	w := &written{pass: p, seen: map[ast.Expr]bool{}, types: map[types.Object]bool{}, helpers: map[types.Object]bool{}}
	w.find()
	for cur := range p.root.Preorder((*ast.StructType)(nil)) {
		var o types.Object
		if spec, ok := cur.Parent().Node().(*ast.TypeSpec); ok {
			o = p.TypesInfo.Defs[spec.Name]
		}
		if o == nil || !hasMethod(o.Type(), "MarshalJSON", "MarshalText") {
			p.checkFields(cur.Node().(*ast.StructType), w.types[o])
		}
	}
	for _, e := range w.exprs {
		if p.kind(e) == number && isBare(p.TypesInfo.TypeOf(e)) && p.TypesInfo.Types[e].Value == nil {
			p.report(e, "the id %s is a number in JSON, which JavaScript rounds: pass a sqltype.ID", types.ExprString(e))
		}
	}
}

// checkFields reports the fields of a struct that are ids and numbers in JSON. If the package
// writes the struct as JSON, fields without a tag count, too.
func (p *pass) checkFields(s *ast.StructType, isWritten bool) {
	for _, f := range s.Fields.List {
		tag, tagged := reflect.StructTag(tagOf(f)).Lookup("json")
		_, options, _ := strings.Cut(tag, ",")
		if !tagged && !isWritten || tag == "-" {
			continue
		}
		for _, id := range f.Names {
			o := p.TypesInfo.Defs[id]
			if !id.IsExported() || o == nil {
				continue
			}
			switch k := p.kinds[o]; {
			case k == number && isBare(o.Type()) && !slices.Contains(strings.Split(options, ","), "string"):
				p.report(f, "the id %s is a number in JSON, which JavaScript rounds: use sqltype.ID, or add \",string\" to its json tag", id.Name)
			case k == list && isBare(elementOf(o.Type())):
				p.report(f, "the ids in %s are numbers in JSON, which JavaScript rounds, and the option string has no effect on them: use elements of type sqltype.ID", id.Name)
			}
		}
	}
}

// isBare reports whether JSON writes a type as a number that may have 64 bits.
func isBare(t types.Type) bool {
	return !isID(t) && !hasMethod(t, "MarshalJSON", "MarshalText") && isKind(t, types.Int, types.Int64, types.Uint, types.Uint64)
}

// written is what the package writes as JSON.
type written struct {
	*pass
	seen    map[ast.Expr]bool
	exprs   []ast.Expr
	types   map[types.Object]bool
	helpers map[types.Object]bool // parameters that a function of the package writes as JSON
}

// find finds what calls write, and what they pass to a helper of the package that writes it.
func (w *written) find() {
	for _, helpers := range []bool{false, true} {
		for cur := range w.root.Preorder((*ast.CallExpr)(nil)) {
			call := cur.Node().(*ast.CallExpr)
			f := w.callee(call)
			for i := 0; f != nil && i < min(f.Signature().Params().Len(), len(call.Args)); i++ {
				if param := f.Signature().Params().At(i); helpers && w.helpers[param] || !helpers && isJSONParam(f, param) {
					w.add(call.Args[i])
				}
			}
		}
	}
}

var (
	isJSON  = regexp.MustCompile(`(?i)json|sonic`)
	isInput = regexp.MustCompile(`(?i)bind|read|decode|unmarshal|parse|scan|query`)
)

// isJSONParam reports whether a function writes a parameter as JSON: Marshal and Encode of
// encoding/json and packages like it, and functions of any package with JSON in their name, such as
// the methods of gin, echo and fiber.
func isJSONParam(f *types.Func, param *types.Var) bool {
	i, ok := param.Type().Underlying().(*types.Interface)
	if !ok || i.NumMethods() > 0 || f.Pkg() == nil || isInput.MatchString(f.Name()) {
		return false
	}
	isEncoder := strings.HasPrefix(f.Name(), "Marshal") || f.Name() == "Encode"
	return isJSON.MatchString(f.Name()) || isEncoder && isJSON.MatchString(f.Pkg().Path())
}

// add follows an expression that is written as JSON to what it consists of, within its function.
func (w *written) add(e ast.Expr) {
	e = ast.Unparen(e)
	if w.seen[e] {
		return
	}
	w.seen[e] = true
	w.exprs = append(w.exprs, e)
	t := w.TypesInfo.TypeOf(e)
	w.addType(t)
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			w.add(e.X)
		}
	case *ast.CompositeLit:
		_, isStruct := t.Underlying().(*types.Struct)
		for _, item := range e.Elts {
			kv, ok := item.(*ast.KeyValueExpr)
			if !isStruct || ok && types.IsInterface(w.TypesInfo.TypeOf(kv.Key)) { // an any, whose value decides
				w.add(valueOf(item))
			}
		}
	case *ast.CallExpr:
		if w.isAppend(e) {
			for _, arg := range e.Args {
				w.add(arg)
			}
		}
	case *ast.Ident:
		o := w.object(e)
		if v, ok := o.(*types.Var); ok && types.IsInterface(v.Type()) {
			w.helpers[v] = true // if it is a parameter
		}
		if elementOf(t) != nil || types.IsInterface(t) {
			for _, a := range w.into[o] {
				if a.result < 0 && a.part != fromElement {
					w.add(a.from)
				}
			}
		}
	}
}

// addType marks a type, and those in its fields and elements, as written.
func (w *written) addType(t types.Type) {
	n := named(t)
	if n != nil {
		if w.types[n.Origin().Obj()] {
			return
		}
		w.types[n.Origin().Obj()] = true
	}
	if s := structOf(t); s != nil && (n == nil || n.Obj().Pkg() == w.Pkg) {
		for f := range s.Fields() {
			w.addType(f.Type())
		}
	}
	if e := elementOf(t); e != nil {
		w.addType(e)
	}
}
