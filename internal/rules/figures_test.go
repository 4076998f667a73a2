package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var figure = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// The figures in the README's tables of benchmarks are those of the committed results.
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
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Benchmarks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	figures := 0
	for line := range strings.Lines(section) {
		_, cells, ok := strings.Cut(strings.TrimPrefix(line, "|"), "|") // the first one names the row
		if !strings.HasPrefix(line, "| ") || !ok || strings.Contains(line, "goroutine") {
			continue
		}
		for _, f := range figure.FindAllString(cells, -1) {
			if figures++; !measured[f] {
				t.Errorf("%s is not among the results of make bench: %s", f, line)
			}
		}
	}
	if figures < 30 {
		t.Errorf("only %d figures were found", figures)
	}
}
