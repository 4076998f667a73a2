package lint

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// page is the page that explains the rules.
const page = "https://github.com/" + "seed-299c1d6b/snowkey/blob/main/docs/testing.md#"

// Config configures the analyzers. The zero value is ready for use.
type Config struct {
	Disable []string // names of rules to leave out
	// ExternalNolint leaves the comments //nolint and //nolint:snowkeylint to the program that
	// runs the analyzers, as golangci-lint does. Comments that name a rule always count.
	ExternalNolint bool
}

// New returns the analyzers of all rules that are not disabled. The error names a rule that does
// not exist.
func New(cfg Config) ([]*analysis.Analyzer, error) {
	find := findIDs()
	var analyzers []*analysis.Analyzer
	var names []string
	for _, r := range rules() {
		names = append(names, r.name)
		if !slices.Contains(cfg.Disable, r.name) {
			analyzers = append(analyzers, r.analyzer(find, cfg.ExternalNolint))
		}
	}
	for _, name := range cfg.Disable {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("snowkeylint: Disable: unknown rule %q: want one of %s", name, strings.Join(names, ", "))
		}
	}
	return analyzers, nil
}

// Analyzers returns the analyzers of all rules.
func Analyzers() []*analysis.Analyzer {
	all, _ := New(Config{}) // it fails for Disable only
	return all
}

// A rule is one kind of fault.
type rule struct {
	name string
	doc  string // its first line is a title
	run  func(*pass)
	// flags defines the flags of the rule; it may be nil.
	flags func(*flag.FlagSet)
}

// rules returns all rules, in the order of docs/testing.md.
func rules() []rule {
	return []rule{typeRule(), jsonRule(), narrowRule(), errRule(), scopeRule(), closeRule()}
}

// pass is a rule at work on a package.
type pass struct {
	*analysis.Pass
	*idInfo
	root    inspector.Cursor
	rule    string
	ignored *directives
	files   map[*token.File]*ast.File
	held    map[types.Object][]inspector.Cursor // see mentions
}

// analyzer makes the analyzer of a rule. What the package's ids are is found out once for all.
func (r rule) analyzer(find *analysis.Analyzer, external bool) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: r.name, Doc: r.doc, URL: page + r.name,
		Requires: []*analysis.Analyzer{inspect.Analyzer, find},
	}
	if r.flags != nil {
		r.flags(&a.Flags)
	}
	a.Run = func(ap *analysis.Pass) (any, error) {
		p := &pass{
			Pass: ap, idInfo: ap.ResultOf[find].(*idInfo), rule: r.name,
			root:  ap.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root(),
			files: map[*token.File]*ast.File{},
		}
		if !p.relevant {
			return nil, nil
		}
		p.ignored = newDirectives(ap.Fset, ap.Files, external)
		for _, f := range ap.Files {
			p.files[ap.Fset.File(f.FileStart)] = f
		}
		r.run(p)
		return nil, nil
	}
	return a
}

// report reports a fault at a node, unless its file is generated or a comment says otherwise.
func (p *pass) report(at analysis.Range, format string, args ...any) {
	if ast.IsGenerated(p.files[p.Fset.File(at.Pos())]) || p.ignored.cover(p.rule, p.Fset.Position(at.Pos())) {
		return
	}
	p.Report(analysis.Diagnostic{
		Pos: at.Pos(), End: at.End(), Category: p.rule, URL: page + p.rule,
		Message: fmt.Sprintf(format, args...) + " (" + p.rule + ")", // the name for //nolint
	})
}

// inTest reports whether a position is in a file of tests, or of helpers that import testing.
func (p *pass) inTest(pos token.Pos) bool {
	file := p.Fset.File(pos)
	return strings.HasSuffix(file.Name(), "_test.go") ||
		slices.ContainsFunc(p.files[file].Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
}

// typeName writes a type as the package's code does.
func (p *pass) typeName(t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == p.Pkg {
			return ""
		}
		return other.Name()
	})
}

// contains reports whether a condition holds for a node, or for one in it.
func contains(n ast.Node, condition func(ast.Node) bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || n != nil && condition(n)
		return !found
	})
	return found
}

// uses reports whether a node mentions a variable.
func (p *pass) uses(n ast.Node, o types.Object) bool {
	return p.usesAny(n, func(other types.Object) bool { return other == o })
}

// usesAny reports whether a node mentions a variable that meets a condition.
func (p *pass) usesAny(n ast.Node, condition func(types.Object) bool) bool {
	return contains(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && p.object(id) != nil && condition(p.object(id))
	})
}

// targets returns what gets the results of a call, if that is known, and whether they are dropped.
func targets(cur inspector.Cursor) (to []ast.Expr, dropped bool) {
	switch s := cur.Parent().Node().(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return nil, true
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			return s.Lhs, false
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			to = append(to, name)
		}
	}
	return to, false
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// bodyOf returns the body of the function or the function literal that has a node, or an empty one.
func bodyOf(cur inspector.Cursor) *ast.BlockStmt {
	for up := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := up.Node().(type) {
		case *ast.FuncDecl:
			return n.Body
		case *ast.FuncLit:
			return n.Body
		}
	}
	return &ast.BlockStmt{}
}
