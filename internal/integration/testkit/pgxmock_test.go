package testkit

import (
	"os/exec"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The packages for pgx work with the oldest pgx that they require, and with pgxmock, which needs it.
func TestPgxmock(t *testing.T) {
	testserver.Uncached()
	cmd := exec.CommandContext(t.Context(), "go", "test", ".")
	cmd.Dir = "testdata/pgxmock"
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
