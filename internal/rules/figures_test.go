package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var figure = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// medians returns the medians of the committed results of make bench, with three digits or all
// before the point.
func medians(t *testing.T) map[string]bool {
	t.Helper()
	runs := map[string][]float64{}
	for _, name := range []string{"bench.txt", "inserts.txt", "growth.txt"} {
		text, err := os.ReadFile(filepath.Join(root, "benchmarks", "results", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			for i := 2; strings.HasPrefix(line, "Benchmark") && i+1 < len(fields); i += 2 { // a value and its unit
				v, err := strconv.ParseFloat(fields[i], 64)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				key := fields[0] + " " + fields[i+1]
				runs[key] = append(runs[key], v)
			}
		}
	}
	all := map[string]bool{}
	for _, r := range runs {
		slices.Sort(r)
		v := (r[(len(r)-1)/2] + r[len(r)/2]) / 2
		text := fmt.Sprintf("%.*f", max(0, 3-len(strconv.Itoa(int(v)))), v)
		for i := len(text) - 3; v >= 1000 && i > 0; i -= 3 {
			text = text[:i] + "," + text[i:]
		}
		all[text] = true
	}
	return all
}

// The figures in the documents' tables of benchmarks are those of the committed results.
func TestFigures(t *testing.T) {
	measured := medians(t)
	figures := 0
	for _, page := range []string{"README.md", "README.zh-CN.md", "docs/which-key.md", "benchmarks/README.md"} {
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
