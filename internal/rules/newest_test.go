package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The checks and the benchmarks use the same newest Go.
func TestNewestGo(t *testing.T) {
	release := map[string]string{}
	for _, file := range []string{"tools/check/main.go", "benchmarks/cmd/bench/main.go"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		release[file] = regexp.MustCompile(`\bgo1\.\d+\.\d+\b`).FindString(string(text))
	}
	if a, b := release["tools/check/main.go"], release["benchmarks/cmd/bench/main.go"]; a == "" || a != b {
		t.Errorf("%q", release)
	}
}
