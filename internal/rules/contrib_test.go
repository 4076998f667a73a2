package rules

import (
	"encoding/json"
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
			cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("go list: %v", err)
			}
			own := module + "contrib/" + filepath.Base(dir) + "/"
			packages := 0
			for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); packages++ {
				var pkg struct {
					ImportPath string
					Imports    []string
				}
				if err := d.Decode(&pkg); err != nil {
					t.Fatal(err)
				}
				for _, path := range pkg.Imports {
					if strings.HasPrefix(path, module) && strings.Contains(path, "/internal/") && !strings.HasPrefix(path, own) {
						t.Errorf("%s imports %s", pkg.ImportPath, path)
					}
				}
			}
			if packages == 0 {
				t.Error("go list finds no package: the test shows nothing")
			}
		})
	}
}
