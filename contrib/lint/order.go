package snowkeylint

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func orderRule() rule {
	return rule{name: "snoworder", run: runOrder, doc: `find ids that are compared or sorted as decimal texts

Decimal texts sort as the ids do only if all have the same number of digits.

	if a.ID.String() < b.ID.String()                // bad
	if a.ID < b.ID                                  // good
	db.Query("SELECT … ORDER BY id::text")          // bad
	db.Order("id").Find(&orders)                    // bad, if the key is a decimal text
	ID string ` + "`gorm:\"primaryKey;size:11;snowflake:base62\"`" + ` // sorts as the ids do`}
}

func runOrder(p *pass) {
	p.inspector.Preorder([]ast.Node{(*ast.BinaryExpr)(nil), (*ast.CallExpr)(nil), (*ast.ValueSpec)(nil), (*ast.AssignStmt)(nil), (*ast.KeyValueExpr)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			p.checkComparison(n)
		case *ast.CallExpr:
			p.checkSort(n)
			p.checkGormOrder(n)
			p.checkSQL(n.Args...)
		case *ast.ValueSpec:
			if o := p.TypesInfo.Defs[n.Names[0]]; o != nil {
				if _, isConst := o.(*types.Const); !isConst { // a constant is checked where it is used
					p.checkSQL(n.Values...)
				}
			}
		case *ast.AssignStmt:
			p.checkSQL(n.Rhs...)
		case *ast.KeyValueExpr:
			p.checkSQL(n.Value)
		}
	})
}

const compared = "%s compares ids as decimal texts, of which a longer one may sort first: compare the ids"

func (p *pass) checkComparison(n *ast.BinaryExpr) {
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
	default:
		return
	}
	if !p.isText(n.X, n.Y) {
		return
	}
	var fixes []analysis.SuggestedFix
	if x, y := p.idOf(n.X), p.idOf(n.Y); x != nil && y != nil && types.Identical(p.TypesInfo.TypeOf(x), p.TypesInfo.TypeOf(y)) {
		fixes = fix("compare the ids", replace(n, p.text(x)+" "+n.Op.String()+" "+p.text(y)))
	}
	p.report(n, fixes, compared, n.Op)
}

// isText reports whether one of two operands is the decimal text of an id, and neither is a constant.
func (p *pass) isText(x, y ast.Expr) bool {
	return p.TypesInfo.Types[x].Value == nil && p.TypesInfo.Types[y].Value == nil && (p.Kind(x) == ids.Text || p.Kind(y) == ids.Text)
}

// idOf returns the id whose String method an expression calls, or nil.
func (p *pass) idOf(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "String" || !ids.IsID(p.TypesInfo.TypeOf(sel.X)) {
		return nil
	}
	if _, pointer := p.TypesInfo.TypeOf(sel.X).(*types.Pointer); pointer {
		return nil
	}
	return sel.X
}

func (p *pass) checkSort(call *ast.CallExpr) {
	if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "min" || id.Name == "max") && p.TypesInfo.Types[id].IsBuiltin() && len(call.Args) == 2 {
		if p.isText(call.Args[0], call.Args[1]) {
			p.report(call, nil, compared, id.Name)
		}
		return
	}
	f := ids.Callee(p.TypesInfo, call)
	if f == nil || f.Pkg() == nil || len(call.Args) == 0 {
		return
	}
	switch {
	case ids.IsFunc(f, "strings", "Compare"), ids.IsFunc(f, "cmp", "Compare", "Less"):
		if len(call.Args) != 2 || !p.isText(call.Args[0], call.Args[1]) {
			return
		}
		var fixes []analysis.SuggestedFix
		if x, y := p.idOf(call.Args[0]), p.idOf(call.Args[1]); x != nil && y != nil && f.Name() == "Compare" && types.Identical(p.TypesInfo.TypeOf(x), p.TypesInfo.TypeOf(y)) {
			fixes = fix("compare the ids", replace(call, p.text(x)+".Compare("+p.text(y)+")"))
		}
		p.report(call, fixes, compared, p.text(call.Fun))
	case ids.IsFunc(f, "sort", "Strings", "StringsAreSorted", "SearchStrings"),
		ids.IsFunc(f, "slices", "Sort", "IsSorted", "Max", "Min", "BinarySearch", "Sorted", "SortFunc", "SortStableFunc"),
		ids.IsFunc(f, "sort", "Sort", "Stable", "Reverse"):
		arg := ast.Unparen(call.Args[0])
		if operand := ids.IsConversion(p.TypesInfo, arg); operand != nil { // sort.StringSlice
			arg = operand
		}
		if strings.HasSuffix(f.Name(), "Func") && !p.comparesTexts(call.Args[1]) {
			return
		}
		if p.Kind(arg) == ids.Texts {
			p.report(call, nil, "%s sorts ids as decimal texts, of which a longer one may come first: sort the ids", p.text(call.Fun))
		}
	}
}

// comparesTexts reports whether an argument is strings.Compare or cmp.Compare itself.
func (p *pass) comparesTexts(e ast.Expr) bool {
	o := p.TypesInfo.Uses[lastIdent(e)]
	f, _ := o.(*types.Func)
	return ids.IsFunc(f, "strings", "Compare") || ids.IsFunc(f, "cmp", "Compare")
}

func lastIdent(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return lastIdent(e.X)
	}
	return nil
}

var (
	// A column of ids that is cast to text.
	cast = `(?:(?:\w+\.)?"?(?:\w+_)?id"?\s*::\s*(?:text|varchar|char|character)\b|cast\s*\(\s*(?:\w+\.)?["` + "`" + `]?(?:\w+_)?id["` + "`" + `]?\s+as\s+(?:text|varchar|char|nvarchar|nchar)\b(?:\s*\(\d+\))?\s*\))`
	// A statement, or a clause of one as gorm takes it. Other texts may speak of one.
	statement = regexp.MustCompile(`(?i)^(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:(?:select|with|insert|update|delete|create|declare|explain|alter|order\s+by|where|and)\b|` + cast + `)`)
	// It orders the rows, or is compared by size.
	castOrder = regexp.MustCompile(`(?is)\border\s+by\s[^;]*?` + cast + `|\b(?:min|max)\s*\(\s*` + cast + `|` + cast + `\s*[<>]=?(?:[^>]|$)|[^<>=][<>]=?\s*` + cast)
)

// checkSQL reports a statement that orders or compares ids that it casts to text.
func (p *pass) checkSQL(list ...ast.Expr) {
	for _, e := range list {
		if text, ok := p.Constant(e); ok && statement.MatchString(text) && castOrder.MatchString(text) {
			p.report(e, nil, "the statement orders ids as decimal texts, of which a longer one may come first: remove the cast")
		}
	}
}

var column = regexp.MustCompile("^[`\"]?(?:\\w+[`\"]?\\.[`\"]?)?(\\w+)")

// checkGormOrder reports Order of a column that has ids as decimal texts, in a chain that names the model.
func (p *pass) checkGormOrder(call *ast.CallExpr) {
	f := ids.Callee(p.TypesInfo, call)
	if !ids.IsMethod(f, gorm, "DB", "Find", "First", "Take", "Last", "Scan", "Pluck") || len(call.Args) == 0 {
		return
	}
	row := rowType(p.TypesInfo.TypeOf(call.Args[0]))
	var orders []*ast.CallExpr
	for e := call.Fun; ; {
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			break
		}
		inner, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok {
			break
		}
		switch g := ids.Callee(p.TypesInfo, inner); {
		case ids.IsMethod(g, gorm, "DB", "Order"):
			orders = append(orders, inner)
		case ids.IsMethod(g, gorm, "DB", "Model") && len(inner.Args) == 1:
			row = rowType(p.TypesInfo.TypeOf(inner.Args[0]))
		}
		e = inner.Fun
	}
	if row == nil {
		return
	}
	for _, order := range orders {
		text, ok := p.Constant(order.Args[0])
		m := column.FindStringSubmatch(text)
		if ok && m != nil && p.isTextColumn(row, m[1]) {
			p.report(order.Args[0], nil, "the column %s has ids as decimal texts, of which a longer one may come first: order by another column, or use snowflake:base62", m[1])
		}
	}
}

// isTextColumn reports whether a model's column holds the decimal texts of ids.
func (p *pass) isTextColumn(row *types.TypeName, name string) bool {
	s, ok := row.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		f := s.Field(i)
		own := snake(f.Name())
		if c, ok := ids.Find(ids.Settings(reflect.StructTag(s.Tag(i)).Get("gorm")), "COLUMN"); ok {
			own = c.Value
		}
		if strings.EqualFold(own, name) {
			return p.KindOf(f.Origin()) == ids.Text
		}
	}
	return false
}
