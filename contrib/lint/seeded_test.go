package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// missed are seeded faults that no rule reports, with the reason.
var missed = map[string]string{
	"061": "the loop is in the function that calls the one that leases",
	"074": "whether a method runs twice, and overwrites the lease, is up to its callers",
}

var (
	marker = regexp.MustCompile(`// (FAULT (\d{3}) (snow[a-z]+)|ALSO (\d{3})|OK (\d{2})): \S`)
	// begun is how a marker begins, so that a wrong one is noticed.
	begun = regexp.MustCompile(`// (FAULT|ALSO|OK)\b`)
)

// A seed is a marker in the code of testdata/seeded.
type seed struct{ fault, rule, also, ok string }

// The seeded faults were written without a look at the rules: testdata/seeded/README.md says how.
// Each is reported by its rule, but for those that are listed above, and nothing else is reported.
func TestSeeded(t *testing.T) {
	dir := filepath.Join("testdata", "seeded")
	seeds := readSeeds(t, dir)
	ruleOf, found := map[string]string{}, map[string]bool{}
	for _, s := range seeds {
		if s.fault != "" {
			ruleOf[s.fault] = s.rule
		}
	}
	for _, f := range analyze(t, load(t, dir, "./...")) {
		s := seeds[fmt.Sprintf("%s:%d", f.at.Filename, f.at.Line)]
		if number := s.fault + s.also; number == "" {
			t.Errorf("false report at %s: %s", f.at, f.Message)
		} else if ruleOf[number] == f.rule {
			found[number] = true
		}
	}
	for at, s := range seeds {
		if reason, ok := missed[s.fault]; s.fault != "" && ok == found[s.fault] {
			t.Errorf("fault %s at %s: reported is %v, and the reason to miss it %q", s.fault, at, found[s.fault], reason)
		}
		if s.also != "" && ruleOf[s.also] == "" {
			t.Errorf("%s: there is no fault %s", at, s.also)
		}
	}
	if len(ruleOf) < 50 {
		t.Errorf("only %d faults", len(ruleOf))
	}
	t.Logf("%d of %d seeded faults reported", len(found), len(ruleOf))
}

// readSeeds returns the markers by file and line.
func readSeeds(t *testing.T, dir string) map[string]seed {
	t.Helper()
	seeds := map[string]seed{}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
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
			at := fmt.Sprintf("%s:%d", path, line)
			m := marker.FindStringSubmatch(s)
			if m == nil {
				if begun.MatchString(s) {
					t.Errorf("%s: no marker: %s", at, strings.TrimSpace(s))
				}
				continue
			}
			seeds[at] = seed{m[2], m[3], m[4], m[5]}
		}
	}
	return seeds
}
