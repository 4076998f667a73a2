package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inWorkspace lets snowkey keys run the go command as users do, without what tools/alone.sh sets.
func inWorkspace(t *testing.T) {
	t.Helper()
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "")
}

// With --output the file is written as a whole, or is left as it was.
func TestKeysOutput(t *testing.T) {
	inWorkspace(t)
	text := run(t, "keys", "./testdata/keys/models").out
	file := filepath.Join(t.TempDir(), "keys.go")
	for range 2 { // the second replaces the first
		if got := run(t, "keys", "-o", file, "./testdata/keys/models"); got.code != 0 || got.out != "" || got.err != "" {
			t.Fatalf("exit code %d, %s%s", got.code, got.out, got.err)
		}
		if written, err := os.ReadFile(file); err != nil || string(written) != text {
			t.Errorf("wrote %s, %v, want %s", written, err, text)
		}
	}
	broken := t.TempDir() // gofmt would fail for it in testdata
	for name, text := range map[string]string{
		"go.mod":             "module github.com/seed-299c1d6b/snowkey\n",
		"sqltype/sqltype.go": "package sqltype\n\ntype Key[T any] int64\n",
		"broken.go":          "package broken\n\nimport \"github.com/seed-299c1d6b/snowkey/sqltype\"\n\ntype Order struct{ ID sqltype.Key[Order] }\n\nvar x =\n",
	} {
		name = filepath.Join(broken, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
	}
	const keys = "./testdata/keys/"
	for name, c := range map[string]struct{ before, folder, want string }{
		"another's file": {"package models\n", keys + "models", "did not write this file"},
		"a mistake":      {text, keys + "taken", `taken.go:9: "OrderKey" would be the alias of sqltype.Key[Order]`},
		"no syntax":      {text, broken, `package "` + broken + `": ` + broken + "/broken.go:7:"},
		"a local type":   {text, keys + "local", `local.go:7: "sqltype.Key[local.row]": its T must be a type of a package`},
		"an error":       {text, keys + "universe", `universe.go:5: "sqltype.Key[error]"`},
		"no name":        {text, keys + "unnamed", `unnamed.go:5: "sqltype.NullKey[struct{}]"`},
		"only a T":       {text, keys + "param", "found no key"},
		"no key":         {text, keys + "none", "undefined: OtherKey"},
		"no folder":      {text, keys + "nowhere", `package "./testdata/keys/nowhere"`},
		"many packages":  {text, keys + "...", "packages there, want one"},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(file, []byte(c.before), 0o644))
			run(t, "keys", "-o", file, c.folder).want(t, 1, "", c.want)
			files, err := os.ReadDir(filepath.Dir(file))
			after, _ := os.ReadFile(file)
			if err != nil || len(files) != 1 || string(after) != c.before {
				t.Errorf("left %v, %s", files, after)
			}
		})
	}
}

// A device or a pipe is not read: /dev/zero has no end, and /dev/stdout may have no writer but this command.
func TestKeysOutputIsDevice(t *testing.T) {
	inWorkspace(t)
	run(t, "keys", "-o", os.DevNull, "./testdata/keys/models").says(t, 1, `--output "`+os.DevNull+`": is not a regular file`)
}

// A folder of that name stays, and nothing is left next to it.
func TestKeysOutputIsFolder(t *testing.T) {
	inWorkspace(t)
	dir := t.TempDir()
	folder := filepath.Join(dir, "keys.go")
	must(t, os.Mkdir(folder, 0o755))
	run(t, "keys", "-o", folder, "./testdata/keys/models").says(t, 1, `--output "`+folder+`": is a directory`)
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left %v, %v", files, err)
	}
}

// The repository's own files are what the command writes today. Tests in their modules use them.
func TestKeysOfRepository(t *testing.T) {
	inWorkspace(t)
	const root = "../../../../"
	const integration = root + "internal/integration/"
	for _, c := range []struct{ tool, pkg, file string }{
		{"go", integration + "orms/gormcli/models", integration + "orms/gormcli/models/keys.go"},
		{"go", integration + "binding/kinds", integration + "binding/kinds/keys.go"}, // for oapi-codegen
		{"gorm", integration + "orms/gormcli/models", integration + "orms/gormcli/models/gormcli.go"},
		{"swag", integration + "orms/gormcli/models", integration + "binding/swag/.swaggo"},
		{"gqlgen", integration + "orms/shop", integration + "binding/graphql/gqlgen.yml"},
		{"sqlc", root + "examples/sqlc/key", root + "examples/sqlc/sqlc.yaml"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			got := run(t, "keys", "--for", c.tool, c.pkg)
			file, err := os.ReadFile(c.file)
			if err != nil || got.code != 0 {
				t.Fatalf("%v; exit code %d, %s", err, got.code, got.err)
			}
			text := string(file)
			if ext := filepath.Ext(c.file); ext != ".yml" && ext != ".yaml" {
				if text != got.out {
					t.Errorf("%s is not current: go generate it", c.file)
				}
				return
			}
			trim := func(s string) (lines []string) {
				for line := range strings.Lines(s) {
					if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
						lines = append(lines, line)
					}
				}
				return lines
			}
			entries := strings.Join(trim(got.out)[1:], "\n") // without the key of the list
			if !strings.Contains(strings.Join(trim(text), "\n"), entries) {
				t.Errorf("%s does not have\n%s", c.file, entries)
			}
		})
	}
}
