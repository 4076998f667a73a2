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
	tsc := findTSC()
	if tsc == "" {
		testserver.Missing(t, "no tsc: install the Debian package node-typescript, or npm install --prefix examples/jsonapi/client --no-save typescript")
	}
	if out, err := exec.Command(tsc, "-p", "client").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// findTSC looks where npm puts it beside the client, and in PATH.
func findTSC() string {
	if path, err := filepath.Abs(filepath.Join("client", "node_modules", ".bin", "tsc")); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, err := exec.LookPath("tsc")
	if err != nil {
		return ""
	}
	return path
}
