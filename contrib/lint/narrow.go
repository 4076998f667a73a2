package lint

import (
	"flag"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"

	"golang.org/x/tools/go/ast/inspector"
)

func narrowRule() rule {
	portable := true
	return rule{name: "snownarrow", doc: `find ids in types that cannot hold them

An id has up to 63 bits. A float64 holds integers of 53 bits; an int has 32 bits on some platforms.

	n := int32(order.ID)                                 // bad
	id := sqltype.ID(body["id"].(float64))               // bad: decoded into an any
	n, err := strconv.Atoi(r.PathValue("id"))            // bad, if n becomes an id
	n, err := strconv.ParseInt(r.PathValue("id"), 10, 32) // bad, if n becomes an id
	id, err := sqltype.Parse(r.PathValue("id"))          // good

-snownarrow.int=false allows int and strconv.Atoi, for programs that run only on 64-bit platforms.`,
		flags: func(set *flag.FlagSet) {
			set.BoolVar(&portable, "int", true, "also report int, uint and strconv.Atoi, which have 32 bits on some platforms")
		},
		run: func(p *pass) {
			n := &narrowing{pass: p, portable: portable, traced: map[ast.Expr]bool{}}
			n.run()
		},
	}
}

type narrowing struct {
	*pass
	portable bool // an int may have 32 bits
	traced   map[ast.Expr]bool
}

func (n *narrowing) run() {
	for cur := range n.root.Preorder((*ast.CallExpr)(nil), (*ast.Field)(nil)) {
		switch node := cur.Node().(type) {
		case *ast.CallExpr:
			if operand := n.converted(node); operand != nil {
				n.checkConversion(cur, node, operand)
			} else {
				n.checkParse(node)
			}
		case *ast.Field:
			for _, name := range node.Names {
				if o := n.TypesInfo.Defs[name]; n.kinds[o] == number && isSmall(o.Type()) {
					n.report(node, "%s is of type %s, and refers to an id of 63 bits", name.Name, n.typeName(o.Type()))
				}
			}
		}
	}
	for _, e := range n.wanted {
		n.trace(e)
	}
	for _, a := range n.assignments {
		if a.part == whole && a.result <= 0 && (n.kinds[a.to] == number || isID(a.to.Type())) {
			n.trace(a.from)
		}
	}
}

// checkConversion reports an id that is converted to a type that cannot hold it.
func (n *narrowing) checkConversion(cur inspector.Cursor, call *ast.CallExpr, operand ast.Expr) {
	t := n.TypesInfo.TypeOf(call)
	b, ok := t.Underlying().(*types.Basic)
	if !ok || n.TypesInfo.Types[operand].Value != nil || n.kind(operand) != number {
		return
	}
	name, id := n.typeName(t), types.ExprString(operand)
	switch b.Kind() {
	case types.Float32, types.Float64:
		n.report(call, "%s holds integers of 53 bits at most, and the id %s has 63: its last digits change", name, id)
	case types.Int16, types.Uint16, types.Int32, types.Uint32:
		if !n.takesUpperBits(bodyOf(cur), operand) {
			n.report(call, "%s cuts off the upper bits of the id %s", name, id)
		}
	case types.Int, types.Uint, types.Uintptr:
		if n.portable && !isKind(n.TypesInfo.TypeOf(operand), types.Int, types.Uint, types.Uintptr) && !isReduced(cur.Parent().Node()) {
			n.report(call, "%s has 32 bits on some platforms, and the id %s has 63: use int64", name, id)
		}
	}
}

// takesUpperBits reports whether a function also shifts a variable to the right: it takes the bits
// one by one.
func (n *narrowing) takesUpperBits(body *ast.BlockStmt, operand ast.Expr) bool {
	for inner := n.converted(operand); inner != nil; inner = n.converted(operand) {
		operand = inner
	}
	return contains(body, func(e ast.Node) bool {
		b, ok := e.(*ast.BinaryExpr)
		return ok && b.Op == token.SHR && n.uses(b.X, n.object(operand))
	})
}

// isReduced reports whether a value is only used for a few of its bits, as in int(id) % n.
func isReduced(parent ast.Node) bool {
	b, ok := parent.(*ast.BinaryExpr)
	return ok && (b.Op == token.REM || b.Op == token.AND || b.Op == token.XOR)
}

// trace follows what becomes an id back to where it comes from, within its function.
func (n *narrowing) trace(e ast.Expr) {
	e = ast.Unparen(e)
	if n.traced[e] {
		return
	}
	n.traced[e] = true
	switch e := e.(type) {
	case *ast.Ident:
		for _, a := range n.into[n.object(e)] {
			if a.part == whole && a.result <= 0 {
				n.trace(a.from)
			}
		}
	case *ast.CallExpr:
		if operand := n.converted(e); operand != nil {
			n.checkWidened(e, operand)
			n.trace(operand)
		} else {
			n.checkSource(e)
		}
	}
}

// checkSource reports a call of strconv whose result becomes an id and cannot hold one.
func (n *narrowing) checkSource(call *ast.CallExpr) {
	f := n.callee(call)
	switch {
	case n.portable && isFunc(f, "strconv", "Atoi"):
		n.report(call, "strconv.Atoi returns an int, which has 32 bits on some platforms, and this becomes an id: use sqltype.Parse or strconv.ParseInt with 64")
	case isFunc(f, "strconv", "ParseFloat"):
		n.report(call, "a float holds integers of 53 bits at most, and this becomes an id: use sqltype.Parse")
	case isFunc(f, "strconv", "ParseInt", "ParseUint") && len(call.Args) == 3:
		v := n.TypesInfo.Types[call.Args[2]].Value
		if v == nil {
			return
		}
		if bits, ok := constant.Int64Val(v); ok && (bits > 0 && bits < 63 || bits == 0 && n.portable) {
			n.report(call, "%s with %d bits, and this becomes an id of 63: say 64, or use sqltype.Parse", types.ExprString(call.Fun), bits)
		}
	}
}

// checkWidened reports a float or an integer of 32 bits that is converted and becomes an id.
func (n *narrowing) checkWidened(call *ast.CallExpr, operand ast.Expr) {
	tv := n.TypesInfo.Types[operand]
	b, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || tv.Value != nil || n.inTest(call.Pos()) {
		return
	}
	switch b.Kind() {
	case types.Float32, types.Float64:
		n.report(call, "%s is a %s, which holds integers of 53 bits at most, and becomes an id: decode it into a sqltype.ID", types.ExprString(operand), n.typeName(tv.Type))
	case types.Int16, types.Uint16, types.Int32, types.Uint32:
		if n.converted(operand) == nil {
			n.report(call, "%s is of type %s, which cannot hold an id of 63 bits, and becomes one", types.ExprString(operand), n.typeName(tv.Type))
		}
	}
}

var floatVerb = regexp.MustCompile(`^"%[-+# 0]*[\d.]*[eEfFgG]"$`)

// checkParse reports sqltype.Parse of the text of a float, or of a value that JSON has decoded into
// an any.
func (n *narrowing) checkParse(call *ast.CallExpr) {
	if !isFunc(n.callee(call), sqltypePath, "Parse", "ParseKey") || len(call.Args) == 0 {
		return
	}
	inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
	if !ok || !isFunc(n.callee(inner), "fmt", "Sprint", "Sprintf") && !isFunc(n.callee(inner), "strconv", "FormatFloat") {
		return
	}
	for _, arg := range inner.Args {
		tv := n.TypesInfo.Types[arg]
		_, index := ast.Unparen(arg).(*ast.IndexExpr)
		if tv.Value != nil && floatVerb.MatchString(tv.Value.String()) || index && types.IsInterface(tv.Type) || isKind(tv.Type, types.Float32, types.Float64) {
			n.report(inner, "the text of a float64 lacks the last digits of an id: decode it into a sqltype.ID, not into an any or a float64")
			return
		}
	}
}
