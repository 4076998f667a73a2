package rules

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Packages in which every exported function and method has an example. Methods
// that a reader knows from an interface of the standard library or of gorm need none.
var exemplary = []string{"core", "sqltype", "pgxtype", "ddl", "gormplugin"}

var known = map[string]bool{"Error": true, "String": true, "Unwrap": true, "Is": true, "Initialize": true, "Name": true}

func TestExamples(t *testing.T) {
	for _, pkg := range exemplary {
		dir := filepath.Join("..", "..", pkg)
		if _, err := os.Stat(dir); err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseDir(fset, dir, func(fs.FileInfo) bool { return true }, parser.ParseComments) //nolint:staticcheck // the files of one folder are all that is wanted
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, p := range parsed {
			for _, f := range p.Files {
				files = append(files, f)
			}
		}
		shown := map[string]bool{}
		for _, e := range doc.Examples(files...) {
			if e.Output == "" && !e.EmptyOutput {
				t.Errorf("%s: Example%s has no output, so it is never run", pkg, e.Name)
			}
			name, suffix, _ := strings.Cut(e.Name, "_")
			shown[name] = true
			if method, _, _ := strings.Cut(suffix, "_"); method != "" {
				shown[name+"."+method] = true
			}
		}
		p, err := doc.NewFromFiles(fset, files, module+pkg)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		need := func(name string) {
			if n++; !shown[name] {
				t.Errorf("%s.%s has no example", pkg, name)
			}
		}
		for _, f := range p.Funcs {
			need(f.Name)
		}
		for _, typ := range p.Types {
			for _, f := range typ.Funcs {
				need(f.Name)
			}
			for _, m := range typ.Methods {
				if ast.IsExported(m.Name) && !known[m.Name] {
					need(typ.Name + "." + m.Name)
				}
			}
		}
		if n < 5 {
			t.Errorf("%s: only %d functions were looked at", pkg, n)
		}
	}
}
