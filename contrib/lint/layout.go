package snowkeylint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func layoutRule() rule {
	return rule{name: "snowlayout", run: runLayout, doc: `find ids that are decoded with a layout other than their generator's

The time, the worker ID and the sequence are then wrong, without an error.

	gen, err := core.New(core.Config{Layout: core.Sonyflake(), Worker: core.Fixed(1)})
	parts, err := core.Twitter().Decode(id)     // bad
	parts, err := gen.Layout().Decode(id)       // good
	at := time.UnixMilli(id>>22 + 1288834974657) // bad

An id is checked if its generator is in the same package, and both layouts are presets or have
constant fields.`}
}

const corePath = ids.Root + "/core"

type layouts struct {
	*pass
	busy map[types.Object]bool
	only *core.Layout // the layout of all generators in the package, if it is the same
	many bool

	changes map[types.Object][]fieldChange
}

func runLayout(p *pass) {
	l := &layouts{pass: p, busy: map[types.Object]bool{}}
	l.findOnly()
	p.inspector.Preorder([]ast.Node{(*ast.CallExpr)(nil), (*ast.BinaryExpr)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			l.checkDecode(n)
		case *ast.BinaryExpr:
			l.checkShift(n)
		}
	})
}

// findOnly finds the layout of the package's generators.
func (l *layouts) findOnly() {
	l.inspector.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		call := n.(*ast.CallExpr)
		f := ids.Callee(l.TypesInfo, call)
		if !isMaker(f) || l.inTest(call.Pos()) {
			return
		}
		switch own := l.made(call); {
		case own == nil || l.only != nil && *l.only != *own:
			l.many = true
		default:
			l.only = own
		}
	})
}

func (l *layouts) checkDecode(call *ast.CallExpr) {
	f := ids.Callee(l.TypesInfo, call)
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return
	}
	if ids.IsMethod(f, corePath, "Layout", "FirstAt", "Range") && l.only != nil && !l.many && !l.inTest(call.Pos()) {
		if used := l.layout(sel.X); used != nil && *used != *l.only {
			l.report(call, nil, "the generators of this package have the layout %s, and the bounds are those of %s", describe(l.only), describe(used))
		}
		return
	}
	if !ids.IsMethod(f, corePath, "Layout", "Decode", "Explain") || len(call.Args) != 1 {
		return
	}
	used, own := l.layout(sel.X), l.of(call.Args[0])
	if used != nil && own != nil && *used != *own {
		l.report(call, nil, "the id %s is of the layout %s, and is decoded with %s: use Layout() of its generator",
			l.text(call.Args[0]), describe(own), describe(used))
	}
}

// describe names a preset, or lists the widths and the epoch.
func describe(layout *core.Layout) string {
	for _, p := range core.Presets() {
		if p.Layout.WithDefaults() == *layout {
			return p.Name
		}
	}
	return layout.String()
}

// checkShift reports id>>22 + epoch if the layout of the id has other numbers.
func (l *layouts) checkShift(n *ast.BinaryExpr) {
	if bits, ok := l.integer(n.Y); n.Op == token.SHR && ok && bits == 22 {
		if own := l.of(n.X); own != nil && (own.Tick != time.Millisecond || below(own) != 22) {
			l.report(n, nil, "a shift by 22 bits is for the time of Twitter's layout, and the id %s is of the layout %s: use Layout.Decode", l.text(n.X), describe(own))
		}
		return
	}
	if n.Op != token.ADD {
		return
	}
	x, y := n.X, n.Y
	if l.TypesInfo.Types[x].Value != nil {
		x, y = y, x
	}
	epoch, ok := l.integer(y)
	shifted, isShift := l.strip(x).(*ast.BinaryExpr)
	if !ok || epoch < 1e12 || !isShift || shifted.Op != token.SHR {
		return
	}
	bits, ok := l.integer(shifted.Y)
	own := l.of(shifted.X)
	if !ok || own == nil || own.Tick != time.Millisecond {
		return
	}
	if bits == 22 && below(own) != 22 { // reported at the shift
		return
	}
	if bits != below(own) || epoch != own.Epoch.UnixMilli() {
		l.report(n, nil, "the id %s is of the layout %s, whose time is %d bits up, in ms since %d: use Layout.Decode",
			l.text(shifted.X), describe(own), below(own), own.Epoch.UnixMilli())
	}
}

// below returns the number of bits below the time.
func below(layout *core.Layout) int64 {
	return int64(layout.RollbackBits) + int64(layout.DatacenterBits) + int64(layout.WorkerBits) + int64(layout.SequenceBits)
}

func (l *layouts) integer(e ast.Expr) (int64, bool) {
	return constant.Int64Val(constant.ToInt(value(l.TypesInfo, e)))
}

// of returns the layout of the generator of an id, or nil if it is not known.
func (l *layouts) of(id ast.Expr) *core.Layout {
	e := l.strip(id)
	if own := l.source(ids.Source{Expr: e, Result: -1}); own != nil {
		return own
	}
	if l.only != nil && !l.many && l.Kind(e) == ids.Number {
		return l.only
	}
	return nil
}

// source returns the layout of an expression that is an id, or of the id that a call returns.
func (l *layouts) source(s ids.Source) *core.Layout {
	e := l.strip(s.Expr)
	switch e := e.(type) {
	case *ast.CallExpr:
		f := ids.Callee(l.TypesInfo, e)
		switch {
		case l.IsSource(f):
			if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok {
				return l.generator(sel.X)
			}
		case ids.IsFunc(f, ids.Sqltype, "New", "NewKey") && len(e.Args) == 2:
			return l.generator(e.Args[1])
		case ids.IsMethod(f, corePath, "Layout", "Compose", "FirstAt"):
			if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok {
				return l.layout(sel.X)
			}
		case f != nil:
			var all []*core.Layout
			for _, results := range l.Returns(f) {
				if i := max(s.Result, 0); i < len(results) && l.TypesInfo.Types[results[i]].Value == nil {
					all = append(all, l.source(ids.Source{Expr: results[i], Result: -1}))
				}
			}
			return agreed(all)
		}
	case *ast.Ident, *ast.SelectorExpr:
		return l.object(l.Object(e))
	}
	return nil
}

// object returns the layout on which all assignments to a variable agree.
func (l *layouts) object(o types.Object) *core.Layout {
	if o == nil || l.busy[o] {
		return nil
	}
	l.busy[o] = true
	defer delete(l.busy, o)
	var all []*core.Layout
	for _, from := range l.Into(o) {
		if l.TypesInfo.Types[from.Expr].Value == nil {
			all = append(all, l.source(from))
		}
	}
	if f, i := l.Parameter(o); f != nil {
		for _, args := range l.Calls(f) {
			if i < len(args) {
				all = append(all, l.source(ids.Source{Expr: args[i], Result: -1}))
			}
		}
	}
	return agreed(all)
}

func agreed(all []*core.Layout) *core.Layout {
	for _, one := range all {
		if one == nil || *one != *all[0] {
			return nil
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// generator returns the layout of a generator, or nil.
func (l *layouts) generator(e ast.Expr) *core.Layout {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		f := ids.Callee(l.TypesInfo, call)
		if isMaker(f) {
			return l.made(call)
		}
		if f == nil {
			return nil
		}
		var all []*core.Layout
		for _, results := range l.Returns(f) {
			if len(results) > 0 && !l.TypesInfo.Types[results[0]].IsNil() {
				all = append(all, l.generator(results[0]))
			}
		}
		return agreed(all)
	}
	o := l.Object(e)
	if o == nil || l.busy[o] {
		return nil
	}
	l.busy[o] = true
	defer delete(l.busy, o)
	var all []*core.Layout
	for _, from := range l.Into(o) {
		if from.Result <= 0 {
			all = append(all, l.generator(from.Expr))
		}
	}
	if f, i := l.Parameter(o); f != nil {
		for _, args := range l.Calls(f) {
			if i < len(args) {
				all = append(all, l.generator(args[i]))
			}
		}
	}
	return agreed(all)
}

// made returns the layout that the configuration in a call that makes a generator has.
func (l *layouts) made(call *ast.CallExpr) *core.Layout {
	if len(call.Args) == 0 {
		return nil
	}
	return l.configured(call.Args[len(call.Args)-1])
}

func (l *layouts) configured(e ast.Expr) *core.Layout {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return nil
	}
	if own := element(lit, "Layout"); own != nil {
		return l.layout(own)
	}
	for _, part := range []string{"Lease", "Store"} { // Store of gormplugin, which has Lease
		if e := element(lit, part); e != nil {
			return l.configured(e)
		}
	}
	worker := element(lit, "Worker")
	if worker == nil {
		if ids.Is(l.TypesInfo.TypeOf(lit), corePath, "Config") {
			return nil // it is set elsewhere
		}
		return twitter()
	}
	if source, ok := ast.Unparen(worker).(*ast.CallExpr); ok && ids.IsFunc(ids.Callee(l.TypesInfo, source), corePath, "Fixed") {
		return twitter()
	}
	return nil
}
