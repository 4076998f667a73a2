package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A README is at most 250 lines of 120 characters, and CONTRIBUTING.md 120 lines. In docs, prose is
// wrapped at 100.
func TestLengthOfDocuments(t *testing.T) {
	if lines := linesOf(t, filepath.Join(root, "CONTRIBUTING.md")); len(lines) > 120 {
		t.Errorf("CONTRIBUTING.md has %d lines", len(lines))
	}
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		lines := linesOf(t, filepath.Join(root, name))
		if len(lines) > 250 {
			t.Errorf("%s has %d lines", name, len(lines))
		}
		for i, line := range lines {
			if n := utf8.RuneCountInString(line); n > 120 {
				t.Errorf("%s:%d has %d characters", name, i+1, n)
			}
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		code := false
		for i, line := range linesOf(t, page) {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			if n := utf8.RuneCountInString(line); n > 100 && !code && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d characters", page, i+1, n)
			}
		}
	}
}

// No file of the repository is as large as a program that was built.
func TestSizes(t *testing.T) {
	files, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		return // not a checkout
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.Size() > 1<<20 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
