package rules

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// A path in a span of code: from a folder of the root, or with ./ before it.
	located  = regexp.MustCompile("`(?:\\./)?([a-z0-9]+/[A-Za-z0-9_./-]*[A-Za-z0-9_])`")
	variable = regexp.MustCompile(`\bSNOWKEY_[A-Z_]*[A-Z]\b`)
)

// The log messages that docs/operations.md quotes are in the code.
func TestWordsOfTheLog(t *testing.T) {
	var code strings.Builder
	for _, dir := range []string{"core", "worker", "worker/driver"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") {
				code.Write(text)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, m := range regexp.MustCompile("`((?:snowkey|core|worker): [^`]*)`").FindAllStringSubmatch(string(page), -1) {
		said++
		words := `"` + m[1]
		if kind, ok := strings.CutPrefix(m[1], "snowkey: "); ok { // of an event: see core.LogTo
			words = `"` + strings.ReplaceAll(kind, " ", "_") + `"`
		}
		for part := range strings.SplitSeq(words, "…") { // … is for a value
			if !strings.Contains(code.String(), strings.TrimSpace(part)) {
				t.Errorf("neither core nor worker says %s", m[1])
			}
		}
	}
	if said < 10 {
		t.Errorf("only %d were found", said)
	}
}

// Files and folders that a document names in code exist, and something reads the variables
// that it documents.
func TestNames(t *testing.T) {
	read := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case d.IsDir():
		case filepath.Ext(path) == ".go" || filepath.Ext(path) == ".sh" || d.Name() == "Makefile":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, name := range variable.FindAllString(string(text), -1) {
				read[name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	paths, variables := 0, 0
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range located.FindAllStringSubmatch(string(text), -1) {
			first, _, _ := strings.Cut(m[1], "/")
			if info, err := os.Stat(filepath.Join(root, first)); err != nil || !info.IsDir() {
				continue // a package or a repository of others, a label
			}
			paths++
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s: %v", document, m[1], err)
			}
		}
		for _, name := range variable.FindAllString(string(text), -1) {
			variables++
			if !read[name] {
				t.Errorf("%s: nothing reads %s", document, name)
			}
		}
	}
	if paths < 20 || variables < 10 {
		t.Errorf("only %d paths and %d variables were found", paths, variables)
	}
}
