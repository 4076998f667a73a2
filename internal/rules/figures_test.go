package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var figure = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// The figures in the documents' tables of benchmarks are those of the committed results.
func TestFigures(t *testing.T) {
	measured := map[string]bool{}
	for _, name := range []string{"bench.md", "growth.md"} {
		text, err := os.ReadFile(filepath.Join(root, "benchmarks", "results", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range figure.FindAllString(string(text), -1) {
			measured[f] = true
		}
	}
	figures := 0
	for _, page := range []string{"README.md", "README.zh-CN.md", "docs/benchmarks.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		table := false // of figures: a column is aligned to the right
		for line := range strings.Lines(string(text)) {
			if table = strings.HasPrefix(line, "|") && (table || strings.Contains(line, "--:|")); !table {
				continue
			}
			_, cells, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|") // the first one names the row
			for _, f := range figure.FindAllString(strings.ReplaceAll(cells, "v7", ""), -1) {
				if figures++; !measured[f] {
					t.Errorf("%s: %s is not among the results of make bench: %s", page, f, line)
				}
			}
		}
	}
	if figures < 30 {
		t.Errorf("only %d figures were found", figures)
	}
}
