package lint_test

import (
	"go/token"
	"os"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/seed-299c1d6b/snowkey/contrib/lint"
)

// finding is a report of a rule.
type finding struct {
	analysis.Diagnostic
	at   token.Position
	rule string
}

// load loads packages of the module in dir, with all that they import.
func load(tb testing.TB, dir string, patterns ...string) []*packages.Package {
	tb.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir,
		Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly"),
	}, patterns...)
	if err != nil {
		tb.Fatal(err)
	}
	if len(pkgs) == 0 || packages.PrintErrors(pkgs) > 0 {
		tb.Fatalf("%q in %s: %d packages, or errors", patterns, dir, len(pkgs))
	}
	return pkgs
}

// analyze runs all rules.
func analyze(tb testing.TB, pkgs []*packages.Package) (all []finding) {
	tb.Helper()
	graph, err := checker.Analyze(lint.Analyzers(), pkgs, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			tb.Fatal(act.Err)
		}
		for _, d := range act.Diagnostics {
			all = append(all, finding{d, act.Package.Fset.Position(d.Pos), act.Analyzer.Name})
		}
	}
	return all
}
