package snowkeylint

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

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

// page is the page that explains the rules.
const page = "https://github.com/" + "seed-299c1d6b/snowkey/blob/main/docs/lint.md#"

// A rule is one kind of fault.
type rule struct {
	name string
	doc  string // its first line is a title
	run  func(*pass)
	// flags defines the flags of the rule; it may be nil.
	flags func(*flag.FlagSet)
}

// rules returns all rules, in the order of docs/lint.md.
func rules() []rule {
	return []rule{
		autoRule(), tagRule(), typeRule(), formRule(),
		jsonRule(), stringRule(), narrowRule(), orderRule(), layoutRule(),
		errRule(), scopeRule(), workerRule(), closeRule(),
	}
}

// pass is a rule at work on a package.
type pass struct {
	*analysis.Pass
	*ids.Info
	inspector *inspector.Inspector
	rule      string
	ignored   *directives
	generated map[*token.File]bool
	tests     map[*token.File]bool
	held      map[types.Object][]inspector.Cursor // see mentions
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
		p := &pass{Pass: ap, Info: ap.ResultOf[find].(*ids.Info), rule: r.name}
		if !p.Relevant {
			return nil, nil
		}
		p.inspector = ap.ResultOf[inspect.Analyzer].(*inspector.Inspector)
		p.ignored = newDirectives(ap.Fset, ap.Files, external)
		p.generated = map[*token.File]bool{}
		p.tests = map[*token.File]bool{}
		for _, f := range ap.Files {
			file := ap.Fset.File(f.FileStart)
			p.generated[file] = ast.IsGenerated(f)
			p.tests[file] = strings.HasSuffix(file.Name(), "_test.go") ||
				slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
		}
		r.run(p)
		return nil, nil
	}
	return a
}

// report reports a fault at a node, unless its file is generated or a comment says otherwise.
func (p *pass) report(at analysis.Range, fixes []analysis.SuggestedFix, format string, args ...any) {
	p.reportRelated(at, fixes, nil, format, args...)
}

func (p *pass) reportRelated(at analysis.Range, fixes []analysis.SuggestedFix, related []analysis.RelatedInformation, format string, args ...any) {
	if p.generated[p.Fset.File(at.Pos())] || p.ignored.cover(p.rule, p.Fset.Position(at.Pos())) {
		return
	}
	p.Report(analysis.Diagnostic{
		Pos: at.Pos(), End: at.End(), Category: p.rule, URL: page + p.rule,
		Message: fmt.Sprintf(format, args...), SuggestedFixes: fixes, Related: related,
	})
}

// inTest reports whether a position is in a file of tests, or of helpers that import testing.
func (p *pass) inTest(pos token.Pos) bool { return p.tests[p.Fset.File(pos)] }

// name writes a type as the package's code does.
func (p *pass) name(t types.Type) string { return types.TypeString(t, p.qualifier) }

func (p *pass) qualifier(other *types.Package) string {
	if other == p.Pkg {
		return ""
	}
	return other.Name()
}

// text returns the source of a node that is short.
func (p *pass) text(n ast.Node) string {
	return types.ExprString(n.(ast.Expr))
}

func fix(message string, edits ...analysis.TextEdit) []analysis.SuggestedFix {
	return []analysis.SuggestedFix{{Message: message, TextEdits: edits}}
}

func replace(n ast.Node, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: n.Pos(), End: n.End(), NewText: []byte(text)}
}
