package rules

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// generated is code of generators that take longer to build than a test may. The sum is of what
// they read and of what they wrote, so that neither changes alone.
var generated = []struct {
	folder   string // that of the directive
	patterns []string
	sum      string
}{
	{"internal/integration/binding/graphql", []string{"*"}, "50dc31541181f371"},
	{"internal/integration/binding/oapi", []string{"*"}, "25c19ddcf1349084"},
	{"internal/integration/orms", []string{"sqlcshop/*.yaml", "sqlcshop/*/*"}, "432b7fa052d69cba"},
	{"internal/integration/orms/gormcli", []string{"models/*", "helpers/*"}, "37d12841875789e7"},
	{"internal/integration/binding/swag", []string{"*", "../../orms/gormcli/models/*"}, "d5a40a15396d008c"},
	{"examples/sqlc", []string{"*.sql", "sqlc.yaml", "db/*"}, "547132e888eb5356"},
}

// What a generator reads was not changed without running it, and what it wrote was not changed
// by hand. Package ent is generated again in internal/integration/orms.
func TestGeneratedIsCurrent(t *testing.T) {
	version := regexp.MustCompile(`(?m)^//go:generate go run [^ ]+@(v[\d.]+)`)
	for _, g := range generated {
		t.Run(g.folder, func(t *testing.T) {
			folder := filepath.Join(root, g.folder)
			hash := sha256.New()
			for _, pattern := range g.patterns {
				files, err := filepath.Glob(filepath.Join(folder, pattern))
				if err != nil || len(files) == 0 {
					t.Fatalf("%s has no %s, %v", g.folder, pattern, err)
				}
				for _, file := range files {
					text, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(text), text)
				}
			}
			sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			directives := 0
			for _, file := range sources {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range version.FindAllSubmatch(text, -1) {
					directives++
					fmt.Fprintf(hash, "%s\n", m[1])
				}
			}
			if directives != 1 {
				t.Fatalf("%d directives with a version, want 1", directives)
			}
			if sum := fmt.Sprintf("%x", hash.Sum(nil)[:8]); sum != g.sum {
				t.Errorf("%s: run go generate ./%s, look at its changes, and write the sum %q here", g.sum, g.folder, sum)
			}
		})
	}
}
