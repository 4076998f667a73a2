package rules

import (
	"path/filepath"
	"strings"
	"testing"
)

// The index of the documents links to each page.
func TestIndexOfDocuments(t *testing.T) {
	index := prose(t, filepath.Join(root, "docs", "README.md"))
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}
