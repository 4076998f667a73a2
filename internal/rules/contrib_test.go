package rules

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The folders at the top. A new one needs a reason that fits into this line.
var folders = []string{
	"benchmarks", "cmd", "contrib", "core", "ddl", "docs", "examples", "gormplugin", "internal", "pgxtype", "serial", "snowkeytest", "sqltype", "tools", "worker",
}

func TestTopLevel(t *testing.T) {
	out, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, file := range strings.Fields(string(out)) {
		if folder, _, nested := strings.Cut(file, "/"); nested && !strings.HasPrefix(folder, ".") && !got[folder] {
			got[folder] = true
			if !slices.Contains(folders, folder) {
				t.Errorf("%s is a folder at the top and not one of %q", folder, folders)
			}
		}
	}
	if len(got) < len(folders) {
		t.Errorf("found only %d of the folders %q", len(got), folders)
	}
}

// Modules in contrib are built on the public API: their code, tests aside, imports nothing
// internal but what lies in their own folder.
func TestContrib(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join(root, "contrib", "*", "go.mod"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("no modules in contrib, %v", err)
	}
	for _, file := range modules {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			own := module + "contrib/" + filepath.Base(dir) + "/"
			files := 0
			err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return err
				case entry.IsDir() && entry.Name() == "testdata":
					return filepath.SkipDir
				case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
					return nil
				}
				files++
				parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
				if err != nil {
					return err
				}
				for _, spec := range parsed.Imports {
					name := strings.Trim(spec.Path.Value, `"`)
					if strings.HasPrefix(name, module) && strings.Contains(name, "/internal/") && !strings.HasPrefix(name, own) {
						t.Errorf("%s imports %s", path, name)
					}
				}
				return nil
			})
			if err != nil || files == 0 {
				t.Errorf("read %d files, %v", files, err)
			}
		})
	}
}
