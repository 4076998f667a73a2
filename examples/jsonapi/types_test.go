package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// tsc takes the client as it is. refused.ts has lines in which an id is taken for
// another kind of id, or for a number: tsc reports each that it would accept.
func TestTypeScript(t *testing.T) {
	if testing.Short() && os.Getenv("SNOWKEY_TEST_REQUIRE") != "1" {
		t.Skip("slow: -short leaves the TypeScript compiler out")
	}
	t.Parallel()
	tsc := filepath.Join("..", "..", "tools", "npm", "node_modules", ".bin", "tsc")
	if _, err := os.Stat(tsc); err != nil {
		testserver.Missing(t, "no tsc: npm ci --prefix tools/npm")
	}
	if out, err := exec.Command(tsc, "-p", "client").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
