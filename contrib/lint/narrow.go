package snowkeylint

import (
	"flag"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func narrowRule() rule {
	portable := true
	return rule{name: "snownarrow", doc: `find ids in types that cannot hold them

An id has up to 63 bits. A float64 holds integers of 53 bits; an int has 32 bits on some platforms.

	n := int32(order.ID)                                 // bad
	id := sqltype.ID(body["id"].(float64))               // bad: decoded into an any
	n, err := strconv.Atoi(r.PathValue("id"))            // bad, if n becomes an id
	n, err := strconv.ParseInt(r.PathValue("id"), 10, 32) // bad
	id, err := sqltype.Parse(r.PathValue("id"))          // good

-snownarrow.int=false allows int and strconv.Atoi, for programs that run only on 64-bit platforms.`,
		flags: func(set *flag.FlagSet) {
			set.BoolVar(&portable, "int", true, "also report int, uint and strconv.Atoi, which have 32 bits on some platforms")
		},
		run: func(p *pass) { (&narrow{pass: p, portable: portable}).run() },
	}
}

// shift is a variable that a function shifts to the right, so taking its low bits is intended.
type shift struct {
	o  types.Object
	in *ast.FuncDecl
}

type narrow struct {
	*pass
	portable bool
	shifted  map[shift]bool

	reported map[token.Pos]bool
}

func (n *narrow) run() {
	n.reported = map[token.Pos]bool{}
	n.findShifted()
	for cur := range n.inspector.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if operand := ids.IsConversion(n.TypesInfo, call); operand != nil {
			n.checkConversion(cur, call, operand)
		} else {
			n.checkParse(call)
		}
	}
	all := n.Sources()
	slices.SortFunc(all, func(a, b ids.Source) int { return int(a.Expr.Pos() - b.Expr.Pos()) })
	for _, s := range all {
		n.checkSource(s)
	}
	n.inspector.Preorder([]ast.Node{(*ast.StructType)(nil)}, func(s ast.Node) {
		for _, f := range n.fields(s.(*ast.StructType)) {
			n.checkColumn(f)
			if n.Foreign[f.v] {
				n.once(f, nil, "%s is of type %s, and refers to an id of 63 bits", f.v.Name(), n.name(f.v.Type()))
			}
		}
	})
}

func (n *narrow) findShifted() {
	n.shifted = map[shift]bool{}
	for cur := range n.inspector.Root().Preorder((*ast.BinaryExpr)(nil)) {
		if b := cur.Node().(*ast.BinaryExpr); b.Op == token.SHR {
			if o := n.Object(n.strip(b.X)); o != nil {
				n.shifted[shift{o, enclosing(cur)}] = true
			}
		}
	}
}

// enclosing returns the function that has a node, or nil.
func enclosing(cur inspector.Cursor) *ast.FuncDecl {
	for up := range cur.Enclosing((*ast.FuncDecl)(nil)) {
		return up.Node().(*ast.FuncDecl)
	}
	return nil
}

// strip removes conversions.
func (p *pass) strip(e ast.Expr) ast.Expr {
	for {
		e = ast.Unparen(e)
		if operand := ids.IsConversion(p.TypesInfo, e); operand != nil {
			e = operand
			continue
		}
		if call, ok := e.(*ast.CallExpr); ok {
			f := ids.Callee(p.TypesInfo, call)
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (ids.IsMethod(f, ids.Sqltype, "ID", "Int64") || ids.IsMethod(f, ids.Sqltype, "Key", "Int64", "ID")) {
				e = sel.X
				continue
			}
		}
		return e
	}
}

func (n *narrow) once(at analysis.Range, fixes []analysis.SuggestedFix, format string, args ...any) {
	if !n.reported[at.Pos()] {
		n.reported[at.Pos()] = true
		n.report(at, fixes, format, args...)
	}
}

// checkConversion reports an id that is converted to a type that cannot hold it.
func (n *narrow) checkConversion(cur inspector.Cursor, call *ast.CallExpr, operand ast.Expr) {
	b, ok := n.TypesInfo.TypeOf(call).Underlying().(*types.Basic)
	if !ok || n.TypesInfo.Types[operand].Value != nil || n.Kind(operand) != ids.Number {
		return
	}
	switch b.Kind() {
	case types.Float32, types.Float64, types.Complex64, types.Complex128:
		n.once(call, nil, "%s holds integers of 53 bits at most, and the id %s has 63: its last digits change", n.name(n.TypesInfo.TypeOf(call)), n.text(operand))
	case types.Int16, types.Uint16, types.Int32, types.Uint32:
		if o := n.Object(n.strip(operand)); o == nil || !n.shifted[shift{o, enclosing(cur)}] {
			n.once(call, nil, "%s cuts off the upper bits of the id %s", n.name(n.TypesInfo.TypeOf(call)), n.text(operand))
		}
	case types.Int, types.Uint, types.Uintptr:
		if isInt := intKind(n.TypesInfo.TypeOf(operand)); n.portable && !isInt && !isReduced(cur.Parent().Node()) {
			n.once(call, nil, "%s has 32 bits on some platforms, and the id %s has 63: use int64", n.name(n.TypesInfo.TypeOf(call)), n.text(operand))
		}
	}
}

func intKind(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Int || b.Kind() == types.Uint || b.Kind() == types.Uintptr)
}

// isReduced reports whether a value is only used for a few of its bits, as in int(id) % n.
func isReduced(parent ast.Node) bool {
	b, ok := parent.(*ast.BinaryExpr)
	return ok && (b.Op == token.REM || b.Op == token.AND || b.Op == token.XOR)
}

// checkSource reports what becomes an id and cannot hold one.
func (n *narrow) checkSource(s ids.Source) {
	call, ok := s.Expr.(*ast.CallExpr)
	if !ok {
		return
	}
	if operand := ids.IsConversion(n.TypesInfo, call); operand != nil {
		n.checkWidened(call, operand)
		return
	}
	if s.Result > 0 {
		return
	}
	f := ids.Callee(n.TypesInfo, call)
	switch {
	case ids.IsFunc(f, "strconv", "Atoi"):
		if n.portable {
			n.once(call, nil, "strconv.Atoi returns an int, which has 32 bits on some platforms, and this becomes an id: use sqltype.Parse or strconv.ParseInt with 64")
		}
	case ids.IsFunc(f, "strconv", "ParseFloat"):
		n.once(call, nil, "a float holds integers of 53 bits at most, and this becomes an id: use sqltype.Parse")
	case ids.IsFunc(f, "strconv", "ParseInt", "ParseUint") && len(call.Args) == 3:
		bits, ok := constant.Int64Val(constant.ToInt(value(n.TypesInfo, call.Args[2])))
		if ok && (bits > 0 && bits < 63 || bits == 0 && n.portable) {
			n.once(call, fix("parse 64 bits", replace(call.Args[2], "64")), "%s parses %s bits, and this becomes an id of 63: say 64, or use sqltype.Parse",
				n.text(call.Fun), bitsText(bits))
		}
	}
}

func bitsText(bits int64) string {
	if bits == 0 {
		return "an int's"
	}
	return strconv.FormatInt(bits, 10)
}

func value(info *types.Info, e ast.Expr) constant.Value {
	if v := info.Types[e].Value; v != nil {
		return v
	}
	return constant.MakeUnknown()
}

// checkWidened reports a float or an integer of 32 bits that is converted and becomes an id.
func (n *narrow) checkWidened(call *ast.CallExpr, operand ast.Expr) {
	tv := n.TypesInfo.Types[operand]
	if tv.Value != nil {
		return
	}
	b, ok := tv.Type.Underlying().(*types.Basic)
	if !ok {
		return
	}
	switch b.Kind() {
	case types.Float32, types.Float64:
		n.once(call, nil, "%s is a %s, which holds integers of 53 bits at most, and becomes an id: decode it into a sqltype.ID", n.text(operand), n.name(tv.Type))
	case types.Int16, types.Uint16, types.Int32, types.Uint32:
		if _, isCall := ast.Unparen(operand).(*ast.CallExpr); isCall && (ids.IsConversion(n.TypesInfo, ast.Unparen(operand)) != nil || n.isRandom(operand)) || n.inTest(call.Pos()) {
			return
		}
		n.once(call, nil, "%s is of type %s, which cannot hold an id of 63 bits, and becomes one", n.text(operand), n.name(tv.Type))
	}
}

func (n *narrow) isRandom(e ast.Expr) bool {
	f := ids.Callee(n.TypesInfo, ast.Unparen(e).(*ast.CallExpr))
	return f != nil && f.Pkg() != nil && strings.HasPrefix(f.Pkg().Path(), "math/rand")
}

// checkParse reports sqltype.Parse of the text of a value that JSON has decoded into an any.
func (n *narrow) checkParse(call *ast.CallExpr) {
	f := ids.Callee(n.TypesInfo, call)
	if !ids.IsFunc(f, ids.Sqltype, "Parse", "ParseKey") && !ids.IsFunc(f, "strconv", "ParseInt") || len(call.Args) == 0 {
		return
	}
	inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
	if !ok || len(inner.Args) == 0 {
		return
	}
	g := ids.Callee(n.TypesInfo, inner)
	if !ids.IsFunc(g, "fmt", "Sprint", "Sprintf") && !ids.IsFunc(g, "strconv", "FormatFloat") {
		return
	}
	if format, _ := n.Constant(inner.Args[0]); g.Name() == "Sprintf" && floatVerb.MatchString(format) {
		n.once(inner, nil, "a float holds integers of 53 bits at most, so the last digits of the id are lost: decode it into a sqltype.ID")
		return
	}
	last := inner.Args[len(inner.Args)-1]
	if g.Name() == "FormatFloat" {
		last = inner.Args[0]
	}
	_, index := ast.Unparen(last).(*ast.IndexExpr)
	t := n.TypesInfo.TypeOf(last)
	b, _ := t.Underlying().(*types.Basic)
	if f.Pkg().Path() == "strconv" && !n.becomesID(call) {
		return
	}
	if types.IsInterface(t) && index || b != nil && b.Info()&types.IsFloat != 0 {
		n.once(inner, nil, "%s holds a float64 after decoding into an any, so the last digits of the id are lost: decode it into a sqltype.ID", n.text(last))
	}
}

var floatVerb = regexp.MustCompile(`^%[-+# 0]*[\d.]*[eEfFgG]$`)

func (n *narrow) becomesID(call *ast.CallExpr) bool {
	return slices.ContainsFunc(n.Sources(), func(s ids.Source) bool { return s.Expr == call && s.Result == 0 })
}

var (
	smallColumn = regexp.MustCompile(`(?i)^(tinyint|smallint|mediumint|int|integer|int[1-4]|serial)\b`)
	floatColumn = regexp.MustCompile(`(?i)^(float|double|real)`)
)

// checkColumn reports a column that cannot hold the ids of its field.
func (n *narrow) checkColumn(f *field) {
	s, ok := f.setting("TYPE")
	if !ok || f.Tag == nil || !ids.IsID(f.v.Type()) && !ids.IsNull(f.v.Type()) && n.KindOf(f.v) != ids.Number {
		return
	}
	switch {
	case smallColumn.MatchString(s.Value):
		n.report(f.Tag, nil, "a column of type %s has fewer than 63 bits, and %s is an id: use bigint", s.Value, f.v.Name())
	case floatColumn.MatchString(s.Value):
		n.report(f.Tag, nil, "a column of type %s changes the last digits of the id %s: use bigint", s.Value, f.v.Name())
	}
}
