package ids

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// Root is the path of the module whose use the rules check.
const Root = "github.com/seed-299c1d6b/snowkey"

// Sqltype is the path of the package of the id types.
const Sqltype = Root + "/sqltype"

// Named returns the defined type of t without aliases and one pointer, or nil.
func Named(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// Is reports whether t, or what it points to, is the type name of the package path.
func Is(t types.Type, path string, names ...string) bool {
	n := Named(t)
	return n != nil && isObject(n.Obj(), path, names...)
}

func isObject(o types.Object, path string, names ...string) bool {
	if o == nil || o.Pkg() == nil || o.Pkg().Path() != path {
		return false
	}
	for _, name := range names {
		if o.Name() == name {
			return true
		}
	}
	return false
}

// IsID reports whether t is sqltype.ID or a sqltype.Key, or a pointer to one.
func IsID(t types.Type) bool { return Is(t, Sqltype, "ID", "Key") }

// IsNull reports whether t is sqltype.NullID or a sqltype.NullKey, or a pointer to one.
func IsNull(t types.Type) bool { return Is(t, Sqltype, "NullID", "NullKey") }

// Callee returns the function or method that a call names, or nil.
func Callee(info *types.Info, call *ast.CallExpr) *types.Func {
	f, _ := typeutil.Callee(info, call).(*types.Func)
	if f != nil {
		f = f.Origin()
	}
	return f
}

// IsFunc reports whether f is a function of a package, not a method, with one of the names.
func IsFunc(f *types.Func, path string, names ...string) bool {
	return f != nil && f.Signature().Recv() == nil && isObject(f, path, names...)
}

// IsMethod reports whether f is a method, with one of the names, of a type of a package.
func IsMethod(f *types.Func, path, typ string, names ...string) bool {
	if f == nil || f.Signature().Recv() == nil || !Is(f.Signature().Recv().Type(), path, typ) {
		return false
	}
	for _, name := range names {
		if f.Name() == name {
			return true
		}
	}
	return false
}

// IsConversion returns the operand of a conversion to another type, or nil.
func IsConversion(info *types.Info, e ast.Expr) ast.Expr {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() {
		return nil
	}
	return call.Args[0]
}

// IsSource reports whether f issues an id: Next of a generator, or of an interface that has the
// same method.
func (in *Info) IsSource(f *types.Func) bool {
	if f == nil || f.Name() != "Next" || f.Signature().Recv() == nil {
		return false
	}
	if isOurs(f) && isNext(f.Signature()) {
		return true
	}
	return in.Imports && isNext(f.Signature()) && types.IsInterface(f.Signature().Recv().Type())
}

// isFill reports whether f sets the elements of its second argument to ids.
func (in *Info) isFill(f *types.Func) bool {
	if f == nil || f.Name() != "Fill" || f.Signature().Recv() == nil || f.Signature().Params().Len() != 2 {
		return false
	}
	s, ok := f.Signature().Params().At(1).Type().(*types.Slice)
	if !ok || !types.Identical(s.Elem(), types.Typ[types.Int64]) || !isContext(f.Signature().Params().At(0).Type()) {
		return false
	}
	return isOurs(f) || in.Imports && types.IsInterface(f.Signature().Recv().Type())
}

// IsFallible returns what a function of ours that issues ids is called, or "". Its last result
// is an error, without which its other results mean nothing.
func (in *Info) IsFallible(f *types.Func) string {
	switch {
	case in.IsSource(f), in.isFill(f):
		return f.Name()
	case IsFunc(f, Sqltype, "New", "NewKey", "Assign"):
		return "sqltype." + f.Name()
	case IsMethod(f, Root+"/serial", "Numbers", "Next", "NextIn"):
		return f.Name()
	}
	return ""
}

func isNext(s *types.Signature) bool {
	return s.Params().Len() == 1 && isContext(s.Params().At(0).Type()) &&
		s.Results().Len() == 2 && types.Identical(s.Results().At(0).Type(), types.Typ[types.Int64])
}

func isContext(t types.Type) bool { return Is(t, "context", "Context") }

// isOurs reports whether an object is of this module.
func isOurs(o types.Object) bool {
	return o.Pkg() != nil && (o.Pkg().Path() == Root || strings.HasPrefix(o.Pkg().Path(), Root+"/"))
}

// isInteger reports whether t, or what it points to, can hold an id as a number.
func isInteger(t types.Type) bool {
	b := basic(t)
	return b != nil && b.Info()&types.IsInteger != 0
}

func isString(t types.Type) bool {
	b := basic(t)
	return b != nil && b.Info()&types.IsString != 0
}

func basic(t types.Type) *types.Basic {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	b, _ := t.Underlying().(*types.Basic)
	return b
}

// elem returns the type of the elements of a list or a map, or nil.
func elem(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Map:
		return t.Elem()
	}
	return nil
}
