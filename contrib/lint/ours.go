package lint

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// base is the path of the module whose use the rules check. Its packages, those in contrib and
// those of other modules below it have paths that begin with it.
const (
	base        = "github.com/seed-299c1d6b/snowkey"
	corePath    = base + "/core"
	sqltypePath = base + "/sqltype"
	pluginPath  = base + "/gormplugin"
)

func isOurPath(path string) bool { return path == base || strings.HasPrefix(path, base+"/") }

func isOurs(o types.Object) bool { return o.Pkg() != nil && isOurPath(o.Pkg().Path()) }

// isID reports whether t is sqltype.ID or a sqltype.Key, or a pointer to one.
func isID(t types.Type) bool { return isType(t, sqltypePath, "ID", "Key") }

// isGenerator reports whether t is a generator of ours: a type with a method Close, and
// a method Next that issues ids.
func isGenerator(t types.Type) bool {
	n := named(t)
	if n == nil || !isOurs(n.Obj()) || types.IsInterface(n) || !hasMethod(n, "Close") {
		return false
	}
	next, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, nil, "Next")
	f, ok := next.(*types.Func)
	return ok && issuesID(f)
}

// isLeased reports whether t is a generator that has a lease.
func isLeased(t types.Type) bool { return isGenerator(t) && !isType(t, corePath, "Generator") }

// isPlugin reports whether t is a plugin of gorm, which has a lease after db.Use.
func isPlugin(t types.Type) bool { return isType(t, pluginPath, "Plugin") }

// isMaker reports whether f is a function that makes a generator or a lease, here or in another
// package. It is known by its name and its first result.
func isMaker(f *types.Func) bool {
	if f == nil || f.Signature().Recv() != nil || f.Signature().Results().Len() == 0 {
		return false
	}
	if made := f.Signature().Results().At(0).Type(); !isGenerator(made) || isPlugin(made) {
		return false
	}
	name := strings.ToLower(f.Name())
	return strings.HasPrefix(name, "new") || strings.HasPrefix(name, "open") || strings.HasPrefix(name, "acquire")
}

// isNext reports whether f is Next, which issues an id.
func (in *idInfo) isNext(f *types.Func) bool { return in.isSource(f, "Next") && issuesID(f) }

// isFill reports whether f is Fill, which sets the elements of its second argument to ids.
func (in *idInfo) isFill(f *types.Func) bool {
	return in.isSource(f, "Fill") && f.Signature().Params().Len() == 2 && isType(f.Signature().Params().At(0).Type(), "context", "Context")
}

// isSource reports whether f is a method of a type of ours, or of an interface of a package that
// imports ours.
func (in *idInfo) isSource(f *types.Func, name string) bool {
	return f != nil && f.Name() == name && f.Signature().Recv() != nil &&
		(isOurs(f) || in.imports && types.IsInterface(f.Signature().Recv().Type()))
}

// issuesID reports whether f takes a context and returns an int64 and an error.
func issuesID(f *types.Func) bool {
	params, results := f.Signature().Params(), f.Signature().Results()
	return params.Len() == 1 && isType(params.At(0).Type(), "context", "Context") &&
		results.Len() == 2 && types.Identical(results.At(0).Type(), types.Typ[types.Int64])
}

// fallible returns what a function of ours that issues ids or numbers is called, or "". Its last
// result is an error, without which its other results mean nothing.
func (in *idInfo) fallible(f *types.Func) string {
	switch {
	case in.isNext(f), in.isFill(f), isMethod(f, base+"/serial", "Next", "NextIn"):
		return f.Name()
	case isFunc(f, sqltypePath, "NextID", "NextKey", "Assign"):
		return "sqltype." + f.Name()
	}
	return ""
}

// isSnowflake reports whether a tag makes gormplugin fill its field.
func isSnowflake(tag string) bool {
	for setting := range strings.SplitSeq(reflect.StructTag(tag).Get("gorm"), ";") {
		if name, value, _ := strings.Cut(setting, ":"); strings.EqualFold(strings.TrimSpace(name), "snowflake") {
			return strings.TrimSpace(value) != "-"
		}
	}
	return false
}

// tagOf returns the tag of a field without its quotes.
func tagOf(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	text, _ := strconv.Unquote(f.Tag.Value)
	return text
}

// callee returns the function or method that a call names, or nil.
func (in *idInfo) callee(call *ast.CallExpr) *types.Func {
	if f, ok := typeutil.Callee(in.TypesInfo, call).(*types.Func); ok {
		return f.Origin()
	}
	return nil
}

// converted returns the operand of a conversion to another type, or nil.
func (in *idInfo) converted(e ast.Expr) ast.Expr {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !in.TypesInfo.Types[call.Fun].IsType() {
		return nil
	}
	return ast.Unparen(call.Args[0])
}

func (in *idInfo) isAppend(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && id.Name == "append" && in.TypesInfo.Types[id].IsBuiltin()
}

func isObject(o types.Object, path string, names ...string) bool {
	return o.Pkg() != nil && o.Pkg().Path() == path && slices.Contains(names, o.Name())
}

// isFunc reports whether f is a function of a package, not a method, with one of the names.
func isFunc(f *types.Func, path string, names ...string) bool {
	return f != nil && f.Signature().Recv() == nil && isObject(f, path, names...)
}

// isMethod reports whether f is a method, with one of the names, of a type of a package.
func isMethod(f *types.Func, path string, names ...string) bool {
	return f != nil && f.Signature().Recv() != nil && isObject(f, path, names...)
}

// hasMethod reports whether a type, or the pointer to it, has one of the methods.
func hasMethod(t types.Type, names ...string) bool {
	if _, isPointer := types.Unalias(t).(*types.Pointer); !isPointer && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	set := types.NewMethodSet(t)
	return slices.ContainsFunc(names, func(name string) bool { return set.Lookup(nil, name) != nil })
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isType reports whether t, or what it points to, is one of the named types of a package.
func isType(t types.Type, path string, names ...string) bool {
	n := named(t)
	return n != nil && isObject(n.Obj(), path, names...)
}

// named returns the defined type of t, or of what it points to, or nil.
func named(t types.Type) *types.Named {
	n, ok := types.Unalias(t).(*types.Named)
	if p, isPointer := types.Unalias(t).(*types.Pointer); !ok && isPointer {
		n, _ = types.Unalias(p.Elem()).(*types.Named)
	}
	return n
}

// pointee returns the underlying type of t, or of what it points to.
func pointee(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.Underlying()
}

func basicOf(t types.Type) *types.Basic {
	b, _ := pointee(t).(*types.Basic)
	return b
}

func structOf(t types.Type) *types.Struct {
	s, _ := pointee(t).(*types.Struct)
	return s
}

func isKind(t types.Type, kinds ...types.BasicKind) bool {
	b := basicOf(t)
	return b != nil && slices.Contains(kinds, b.Kind())
}

// elementOf returns the type of the elements of a list or a map, or nil.
func elementOf(t types.Type) types.Type {
	switch t := pointee(t).(type) {
	case *types.Slice, *types.Array, *types.Map:
		return t.(interface{ Elem() types.Type }).Elem()
	}
	return nil
}
