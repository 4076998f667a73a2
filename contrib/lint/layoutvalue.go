package snowkeylint

import (
	"go/ast"
	"go/constant"
	"go/types"
	"math"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func twitter() *core.Layout {
	layout := core.Twitter()
	return &layout
}

// layout returns the value of an expression that is a layout, or nil.
func (l *layouts) layout(e ast.Expr) *core.Layout {
	e = ast.Unparen(e)
	switch e := e.(type) {
	case *ast.CallExpr:
		f := ids.Callee(l.TypesInfo, e)
		switch {
		case f == nil:
			return nil
		case f.Pkg() != nil && f.Pkg().Path() == corePath && f.Signature().Recv() == nil:
			return preset(f.Name())
		case ids.IsMethod(f, corePath, "Generator", "Layout"), ids.IsMethod(f, workerPath, "Generator", "Layout"):
			if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok {
				return l.generator(sel.X)
			}
		case ids.IsMethod(f, corePath, "Layout", "WithDefaults"):
			if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok {
				return l.layout(sel.X)
			}
		default:
			var all []*core.Layout
			for _, results := range l.Returns(f) {
				if len(results) > 0 {
					all = append(all, l.layout(results[0]))
				}
			}
			return agreed(all)
		}
	case *ast.CompositeLit:
		return l.literal(e)
	case *ast.Ident, *ast.SelectorExpr:
		o := l.Object(e)
		if o == nil || l.busy[o] {
			return nil
		}
		if v, ok := o.(*types.Var); !ok || v.IsField() && v.Pkg() != l.Pkg {
			return nil
		}
		l.busy[o] = true
		defer delete(l.busy, o)
		var all []*core.Layout
		for _, from := range l.Into(o) {
			all = append(all, l.layout(from.Expr))
		}
		return l.changed(o, agreed(all))
	}
	return nil
}

// changed returns a layout with the fields that statements such as l.Epoch = e set.
func (l *layouts) changed(o types.Object, layout *core.Layout) *core.Layout {
	if layout == nil {
		return nil
	}
	own := *layout
	for _, s := range l.fieldChanges()[o] {
		if !l.set(&own, s.name, s.value) {
			return nil
		}
	}
	return &own
}

type fieldChange struct {
	name  string
	value ast.Expr
}

// fieldChanges returns the assignments to fields of variables that are layouts.
func (l *layouts) fieldChanges() map[types.Object][]fieldChange {
	if l.changes != nil {
		return l.changes
	}
	l.changes = map[types.Object][]fieldChange{}
	l.inspector.Preorder([]ast.Node{(*ast.AssignStmt)(nil)}, func(n ast.Node) {
		s := n.(*ast.AssignStmt)
		for i, left := range s.Lhs {
			sel, ok := left.(*ast.SelectorExpr)
			if !ok || !ids.Is(l.TypesInfo.TypeOf(sel.X), corePath, "Layout") || len(s.Lhs) != len(s.Rhs) {
				continue
			}
			if o := l.Object(sel.X); o != nil {
				l.changes[o] = append(l.changes[o], fieldChange{sel.Sel.Name, s.Rhs[i]})
			}
		}
	})
	return l.changes
}

// preset returns the layout of a function such as core.Twitter.
func preset(name string) *core.Layout {
	makers := map[string]func() core.Layout{
		"Twitter": core.Twitter, "Discord": core.Discord, "Instagram": core.Instagram, "Mastodon": core.Mastodon,
		"Sonyflake": core.Sonyflake, "Classic2015": core.Classic2015, "JavaScriptSafe": core.JavaScriptSafe, "Seconds": core.Seconds,
	}
	f, ok := makers[name]
	if !ok {
		return nil
	}
	layout := f().WithDefaults()
	return &layout
}

// literal returns the value of a core.Layout literal whose fields are constant.
func (l *layouts) literal(lit *ast.CompositeLit) *core.Layout {
	if !ids.Is(l.TypesInfo.TypeOf(lit), corePath, "Layout") {
		return nil
	}
	var layout core.Layout
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		key, ok := kv.Key.(*ast.Ident)
		if !ok || !l.set(&layout, key.Name, kv.Value) {
			return nil
		}
	}
	layout = layout.WithDefaults()
	return &layout
}

func (l *layouts) set(layout *core.Layout, name string, e ast.Expr) bool {
	if name == "Epoch" {
		epoch, ok := l.time(e)
		layout.Epoch = epoch
		return ok
	}
	v := value(l.TypesInfo, e)
	if v.Kind() == constant.Bool {
		switch name {
		case "SequenceFirst":
			layout.SequenceFirst = constant.BoolVal(v)
		case "Unsigned":
			layout.Unsigned = constant.BoolVal(v)
		}
		return true
	}
	n, ok := constant.Int64Val(constant.ToInt(v))
	if !ok {
		return false
	}
	if name == "Tick" {
		layout.Tick = time.Duration(n)
		return true
	}
	field := map[string]*uint8{
		"TimeBits": &layout.TimeBits, "RollbackBits": &layout.RollbackBits, "DatacenterBits": &layout.DatacenterBits,
		"WorkerBits": &layout.WorkerBits, "SequenceBits": &layout.SequenceBits,
	}[name]
	if field == nil || n < 0 || n > math.MaxUint8 {
		return false
	}
	*field = uint8(n)
	return true
}

// time returns the value of time.UnixMilli, time.Unix or time.Date in UTC of constants.
func (l *layouts) time(e ast.Expr) (time.Time, bool) {
	if o := l.Object(e); o != nil {
		from := l.Into(o)
		if len(from) != 1 {
			return time.Time{}, false
		}
		e = from[0].Expr
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return time.Time{}, false
	}
	f := ids.Callee(l.TypesInfo, call)
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && ids.IsMethod(f, "time", "Time", "UTC") {
		return l.time(sel.X)
	}
	var n []int64
	for _, arg := range call.Args {
		if v, ok := l.integer(arg); ok {
			n = append(n, v)
		}
	}
	switch {
	case ids.IsFunc(f, "time", "UnixMilli") && len(n) == 1:
		return time.UnixMilli(n[0]).UTC(), true
	case ids.IsFunc(f, "time", "Unix") && len(n) == 2:
		return time.Unix(n[0], n[1]).UTC(), true
	case ids.IsFunc(f, "time", "Date") && len(n) == 7 && l.isUTC(call.Args[7]):
		return time.Date(int(n[0]), time.Month(n[1]), int(n[2]), int(n[3]), int(n[4]), int(n[5]), int(n[6]), time.UTC), true
	}
	return time.Time{}, false
}

func (l *layouts) isUTC(e ast.Expr) bool {
	o := l.TypesInfo.Uses[lastIdent(e)]
	return o != nil && o.Name() == "UTC" && o.Pkg() != nil && o.Pkg().Path() == "time"
}
