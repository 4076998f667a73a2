package orms

import (
	"os"
	"os/exec"
	"path/filepath"
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
			if out, err := exec.Command("diff", "-r", dir, filepath.Join(c.folder, c.code)).CombinedOutput(); err != nil {
				t.Errorf("not as generated, %v: %s\n%.3000s", err, c.command, out)
			}
		})
	}
}
