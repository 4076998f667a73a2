package lint_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/seed-299c1d6b/snowkey/contrib/lint"
)

// The environment of this module, without which it does not build.
var ourFlags, ourWork string

// TestMain downloads what the fixtures import: analysistest loads them without the network. Flags
// for this module, such as -modfile, do not fit theirs.
func TestMain(m *testing.M) {
	ourFlags, ourWork = os.Getenv("GOFLAGS"), os.Getenv("GOWORK")
	os.Setenv("GOFLAGS", "")
	os.Setenv("GOWORK", "off")
	download := exec.Command("go", "mod", "download")
	download.Dir, download.Stderr = "testdata", os.Stderr
	if err := download.Run(); err != nil {
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// Each rule reports in its folder what the comments there expect, and nothing else.
func TestRules(t *testing.T) {
	rules := lint.Analyzers()
	var folders []string
	for _, a := range rules {
		folders = append(folders, "./src/"+a.Name)
	}
	results := analysistest.Run(t, testdata(t), each(rules), folders...)
	if len(results) != len(rules) {
		t.Errorf("%d packages for %d rules", len(results), len(rules))
	}
	for _, r := range results {
		a := find(t, rules, path.Base(r.Action.Package.PkgPath))
		if d := r.Action.Diagnostics; len(d) == 0 || d[0].URL != a.URL || d[0].Category != a.Name {
			t.Errorf("%s reports %+v", a.Name, d)
		}
	}
}

// each runs every rule in the folder of its name. One by one, each would load all packages.
func each(rules []*analysis.Analyzer) *analysis.Analyzer {
	page, _, _ := strings.Cut(rules[0].URL, "#")
	return &analysis.Analyzer{
		Name: "each", Doc: "runs the rule of a folder", URL: page, Requires: rules[0].Requires,
		Run: func(pass *analysis.Pass) (any, error) {
			i := slices.IndexFunc(rules, func(a *analysis.Analyzer) bool { return a.Name == path.Base(pass.Pkg.Path()) })
			if i < 0 {
				return nil, fmt.Errorf("no rule has the folder %s", pass.Pkg.Path())
			}
			return rules[i].Run(pass)
		},
	}
}

// A comment with the name of the linter or of a rule leaves reports out, and so does the header
// of a generated file.
func TestNolint(t *testing.T) {
	analysistest.Run(t, testdata(t), find(t, lint.Analyzers(), "snowtype"), "./src/nolint")
}

// golangci-lint applies a comment with the name of the linter itself, and must see the report.
func TestExternalNolint(t *testing.T) {
	analyzers, err := lint.New(lint.Config{ExternalNolint: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range analysistest.Run(silent{t}, testdata(t), find(t, analyzers, "snowtype"), "./src/nolint") {
		for _, d := range r.Action.Diagnostics {
			got = append(got, d.Message[len("type "):len("type ")+1])
		}
	}
	if want := []string{"A", "C", "F", "G"}; !slices.Equal(got, want) {
		t.Errorf("reports %q, want %q", got, want)
	}
}

// silent drops what analysistest finds wrong.
type silent struct{ *testing.T }

func (silent) Errorf(string, ...any) {}

// No rule reports anything in a package without snowkey, or reports or stumbles over code that is
// correct and unusual. The rules run at the same time and ask for the same ids of another package, so
// the race detector sees what they share.
func TestUnrelatedAndOdd(t *testing.T) {
	for _, d := range analyze(t, load(t, testdata(t), "./src/unrelated", "./src/odd/...")) {
		t.Errorf("%s: %s", d.at, d.Message)
	}
}

func TestDisable(t *testing.T) {
	all := lint.Analyzers()
	some, err := lint.New(lint.Config{Disable: []string{"snowjson", "snowerr"}})
	if err != nil || len(some) != len(all)-2 {
		t.Errorf("%d of %d analyzers, %v", len(some), len(all), err)
	}
	if err := analysis.Validate(all); err != nil {
		t.Error(err)
	}
	const want = `snowkeylint: Disable: unknown rule "snowjsn": want one of snowtype, `
	if _, err = lint.New(lint.Config{Disable: []string{"snowjsn"}}); err == nil || err.Error()[:len(want)] != want {
		t.Errorf("error %v, want %s…", err, want)
	}
}

func find(t *testing.T, analyzers []*analysis.Analyzer, name string) *analysis.Analyzer {
	t.Helper()
	i := slices.IndexFunc(analyzers, func(a *analysis.Analyzer) bool { return a.Name == name })
	if i < 0 {
		t.Fatalf("no analyzer %s", name)
	}
	return analyzers[i]
}

func testdata(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
