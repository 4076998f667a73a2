package model_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// Far more than it takes, under a minute on two cores: a bound for a machine under
// load, if the tests have none that is nearer.
const most = 15 * time.Minute

// TestModel checks the models in their small sizes: the fence holds, and everything
// that must break it does.
func TestModel(t *testing.T) {
	// Not by testserver.Slow, which keeps Go from taking the result from its cache.
	if full := os.Getenv("SNOWKEY_TEST_FULL"); full == "" || full == "0" {
		t.Skip("slow: runs with SNOWKEY_TEST_FULL=1, as in ./test.sh")
	}
	read(t)
	for _, program := range []string{"bash", "spin"} {
		if _, err := exec.LookPath(program); err != nil {
			testserver.Missing(t, err)
		}
	}
	bound := most
	if deadline, ok := t.Deadline(); ok {
		bound = min(bound, time.Until(deadline)-30*time.Second)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "run.sh")
	cmd.Env = append([]string{fmt.Sprintf("SPIN_SECONDS=%d", int(most.Seconds()))}, os.Environ()...) // of each search, unless it says so
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		testserver.Missing(t, strings.TrimSpace(out.String()))
	}
	if err != nil {
		t.Fatalf("run.sh: %v\n%s", err, out.String())
	}
	t.Log("\n" + out.String())
	if !strings.HasSuffix(out.String(), "\nAll as it must be.\n") {
		t.Errorf("run.sh ended without saying that all is as it must be")
	}
}

// read reads the files and variables of run.sh, so that Go's cache knows them. It does not know spin
// and the compiler: after a change of those, -count=1 runs the test again.
func read(t *testing.T) {
	t.Helper()
	for _, variable := range []string{"CC", "SPIN_SECONDS", "SPIN_MEGABYTES"} {
		_ = os.Getenv(variable)
	}
	models, err := filepath.Glob("*.pml")
	if err != nil || len(models) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, file := range append(models, "run.sh") {
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
}
