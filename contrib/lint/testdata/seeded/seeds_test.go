package seeded

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	fault  = regexp.MustCompile(`// FAULT (\d{3}) class (\d+): \S`)
	also   = regexp.MustCompile(`// ALSO (\d{3}): \S`)
	right  = regexp.MustCompile(`// OK (\d{2,3}): \S`)
	marker = regexp.MustCompile(`// (FAULT|ALSO|OK)\b`)
	row    = regexp.MustCompile(`^\| (\d+) \| .* \| ([-\d, ]+) \| (\d+) \|$`)
)

// TestMarkers checks that each fault and each near miss has a number of its own, and that the
// README has the faults of each class.
func TestMarkers(t *testing.T) {
	faults, near := map[int]int{}, map[int]bool{}
	var ends []int
	for path, line := range lines(t) {
		switch {
		case fault.MatchString(line):
			m := fault.FindStringSubmatch(line)
			n, class := number(t, m[1]), number(t, m[2])
			if faults[n] != 0 || class < 1 || class > 13 {
				t.Errorf("%s: fault %d of class %d: twice, or no class", path, n, class)
			}
			faults[n] = class
		case also.MatchString(line):
			ends = append(ends, number(t, also.FindStringSubmatch(line)[1]))
		case right.MatchString(line):
			n := number(t, right.FindStringSubmatch(line)[1])
			if near[n] {
				t.Errorf("%s: OK %d is there twice", path, n)
			}
			near[n] = true
		case marker.MatchString(line):
			t.Errorf("%s: no marker: %s", path, strings.TrimSpace(line))
		}
	}
	for n := range 100 {
		if faults[n+1] == 0 {
			t.Errorf("no fault %03d", n+1)
		}
	}
	if len(faults) != 100 || len(near) < 40 {
		t.Errorf("%d faults and %d near misses, want 100 and at least 40", len(faults), len(near))
	}
	for _, n := range ends {
		if faults[n] == 0 {
			t.Errorf("ALSO %03d belongs to no fault", n)
		}
	}
	for n := range near {
		if n > len(near) {
			t.Errorf("OK %02d, but there are %d", n, len(near))
		}
	}
	if want, got := listed(t), byClass(faults); !slices.Equal(want, got) {
		t.Errorf("the README has\n%s\nthe markers are\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// lines yields the lines of all packages, with path and number.
func lines(t *testing.T) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, "/") || !strings.HasSuffix(path, ".go") {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			s := bufio.NewScanner(f)
			for n := 1; s.Scan(); n++ {
				if !yield(fmt.Sprintf("%s:%d", path, n), s.Text()) {
					return fs.SkipAll
				}
			}
			return s.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// listed returns the README's table: for each class its faults.
func listed(t *testing.T) []string {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.SplitSeq(string(text), "\n") {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		faults := map[int]int{}
		for part := range strings.SplitSeq(m[2], ", ") {
			first, last, ok := strings.Cut(part, "-")
			if !ok {
				last = first
			}
			for n := number(t, first); n <= number(t, last); n++ {
				faults[n] = number(t, m[1])
			}
		}
		if len(faults) != number(t, m[3]) {
			t.Errorf("README: %d faults are listed in %q", len(faults), line)
		}
		out = append(out, byClass(faults)...)
	}
	return out
}

func byClass(faults map[int]int) []string {
	var out []string
	for class := 1; class <= 13; class++ {
		var of []int
		for n, c := range faults {
			if c == class {
				of = append(of, n)
			}
		}
		if slices.Sort(of); len(of) > 0 {
			out = append(out, fmt.Sprint(class, of))
		}
	}
	return out
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
