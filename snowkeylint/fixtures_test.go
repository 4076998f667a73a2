package snowkeylint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/seed-299c1d6b/snowkey/snowkeylint"
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

// Each rule reports what its folder expects, and nothing in the code of the others that it does
// not expect there. Its fixes give the golden files.
func TestRules(t *testing.T) {
	for _, a := range snowkeylint.Analyzers() {
		t.Run(a.Name, func(t *testing.T) {
			golden, err := filepath.Glob(filepath.Join("testdata", "src", a.Name, "*.golden"))
			if err != nil {
				t.Fatal(err)
			}
			run := analysistest.Run
			if len(golden) > 0 {
				run = analysistest.RunWithSuggestedFixes
			}
			results := run(t, testdata(t), a, "./src/"+a.Name)
			if len(results) == 0 || len(results[0].Action.Diagnostics) == 0 {
				t.Error("the fixture shows no fault")
			}
			for _, d := range results[0].Action.Diagnostics {
				if d.URL != a.URL || d.Category != a.Name {
					t.Errorf("%q has the URL %q and the category %q, want those of the rule", d.Message, d.URL, d.Category)
				}
				if fixes := len(d.SuggestedFixes) > 0; fixes && len(golden) == 0 {
					t.Errorf("%q has a fix, and the fixture no golden file", d.Message)
				}
			}
		})
	}
}

// A comment with the name of the linter or of a rule leaves reports out, and so does the header
// of a generated file.
func TestNolint(t *testing.T) {
	analysistest.Run(t, testdata(t), find(t, snowkeylint.Analyzers(), "snowtype"), "./src/nolint")
}

// golangci-lint applies a comment with the name of the linter itself, and must see the report.
func TestExternalNolint(t *testing.T) {
	analyzers, err := snowkeylint.New(snowkeylint.Config{ExternalNolint: true})
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

// No rule reports anything in a package without snowkey.
func TestUnrelated(t *testing.T) {
	for _, d := range analyze(t, load(t, testdata(t), nil, "./src/unrelated")) {
		t.Errorf("%s: %s", d.at, d.Message)
	}
}

func TestDisable(t *testing.T) {
	all := snowkeylint.Analyzers()
	some, err := snowkeylint.New(snowkeylint.Config{Disable: []string{"snowjson", "snowtag"}})
	if err != nil || len(some) != len(all)-2 {
		t.Errorf("%d of %d analyzers, %v", len(some), len(all), err)
	}
	if err := analysis.Validate(all); err != nil {
		t.Error(err)
	}
	const want = `snowkeylint: Disable names "snowjsn", which is no rule: want one of snowauto, `
	if _, err = snowkeylint.New(snowkeylint.Config{Disable: []string{"snowjsn"}}); err == nil || err.Error()[:len(want)] != want {
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
