package snowkeylint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// missed are seeded faults that no rule reports, with the reason.
var missed = map[string]string{}

// ruleOf is the rule for each class of faults in testdata/seeded/README.md.
var ruleOf = map[string]string{
	"1": "snowauto", "2": "snowtag", "3": "snowjson", "4": "snowstring", "5": "snowtype", "6": "snownarrow", "7": "snowscope",
	"8": "snowworker", "9": "snowclose", "10": "snowerr", "11": "snoworder", "12": "snowlayout", "13": "snowform",
}

var marker = regexp.MustCompile(`// (FAULT|ALSO|OK) (\d+)(?: class (\d+))?`)

// A seed is a marker in the code of testdata/seeded.
type seed struct{ kind, number, class string }

// The seeded faults were written without a look at the rules: testdata/seeded/README.md says how.
// Each is reported by the rule of its class, but for those that are listed above, and nothing
// else is reported.
func TestSeeded(t *testing.T) {
	dir := filepath.Join("testdata", "seeded")
	seeds := readSeeds(t, dir)
	found := map[string]bool{}
	for _, f := range analyze(t, load(t, dir, nil, "./...")) {
		s, ok := seeds[fmt.Sprintf("%s:%d", f.at.Filename, f.at.Line)]
		if !ok || s.kind == "OK" {
			t.Errorf("false report at %s: %s", f.at, f.Message)
			continue
		}
		if class := classOf(seeds, s.number); ruleOf[class] == f.rule {
			found[s.number] = true
		}
	}
	faults := 0
	for at, s := range seeds {
		if s.kind != "FAULT" {
			continue
		}
		faults++
		if reason, ok := missed[s.number]; ok == found[s.number] {
			t.Errorf("fault %s at %s: reported is %v, and the reason to miss it %q", s.number, at, found[s.number], reason)
		}
	}
	if faults < 100 {
		t.Errorf("only %d faults", faults)
	}
	t.Logf("%d of %d seeded faults reported", len(found), faults)
}

func classOf(seeds map[string]seed, number string) string {
	for _, s := range seeds {
		if s.kind == "FAULT" && s.number == number {
			return s.class
		}
	}
	return ""
}

// readSeeds returns the markers by file and line.
func readSeeds(t *testing.T, dir string) map[string]seed {
	t.Helper()
	seeds := map[string]seed{}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	nested, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, nested...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 0
		for s := range strings.Lines(string(text)) {
			line++
			if m := marker.FindStringSubmatch(s); m != nil {
				seeds[fmt.Sprintf("%s:%d", path, line)] = seed{m[1], m[2], m[3]}
			}
		}
	}
	return seeds
}
