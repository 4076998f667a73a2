package orms

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// The code of ent, here and in the example, is what it generates from the schemas.
func TestEntIsGenerated(t *testing.T) {
	if os.Getenv("SNOWKEY_TEST_FULL") != "1" {
		t.Skip("builds and runs the generator: SNOWKEY_TEST_FULL=1 runs it")
	}
	t.Parallel()
	for _, c := range []struct{ folder, generator, code, command string }{
		{".", "entshop/generate.go", "entshop/db", "go generate ./internal/integration/orms"},
		{"../../../examples/ent", "generate.go", "db", "go generate ./examples/ent"},
	} {
		t.Run(c.command, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command("go", "run", c.generator, dir)
			cmd.Dir, cmd.Env = c.folder, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			sameFiles(t, dir, filepath.Join(c.folder, c.code), c.command)
		})
	}
}

// sameFiles compares what was generated with what is committed.
func sameFiles(t *testing.T, generated, committed, command string) {
	t.Helper()
	var files [2][]string
	for i, dir := range []string{generated, committed} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[i] = append(files[i], path[len(dir):])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(files[0], files[1]) {
		t.Errorf("%s has the files %q, and %q are generated: %s", committed, files[1], files[0], command)
		return
	}
	for _, name := range files[0] {
		want, err := os.ReadFile(generated + name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(committed + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s%s is not what is generated, %v: %s", committed, name, err, command)
		}
	}
}
