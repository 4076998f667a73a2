package snowkeylint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/snowkeylint"
)

// The program runs by itself and in go vet, and it explains its rules.
func TestCommand(t *testing.T) {
	program := filepath.Join(t.TempDir(), "snowkeylint")
	t.Setenv("GOFLAGS", ourFlags)
	t.Setenv("GOWORK", ourWork)
	run(t, ".", "go", "build", "-o", program, "./cmd/snowkeylint")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	dir := "testdata"

	for name, command := range map[string][]string{
		"alone": {program, "./src/snowtype"},
		"vet":   {"go", "vet", "-vettool=" + program, "./src/snowtype"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := output(dir, command...)
			if err == nil || strings.Count(out, "none of the methods") != 4 {
				t.Errorf("%v, want 4 reports and an error:\n%s", err, out)
			}
			if out := run(t, dir, append(command[:len(command)-1:len(command)-1], "./src/unrelated")...); out != "" {
				t.Errorf("reports on a package without snowkey:\n%s", out)
			}
		})
	}
	t.Run("one rule", func(t *testing.T) {
		if out := run(t, dir, program, "-snowtype=false", "./src/snowtype"); out != "" {
			t.Errorf("a rule that is off reports:\n%s", out)
		}
	})
	for _, a := range snowkeylint.Analyzers() {
		t.Run("help "+a.Name, func(t *testing.T) {
			if out := run(t, dir, program, "help", a.Name); !strings.Contains(out, "bad") || !strings.Contains(out, "good") {
				t.Errorf("shows no bad and no good code:\n%s", out)
			}
		})
	}
}

func run(t *testing.T, dir string, command ...string) string {
	t.Helper()
	out, err := output(dir, command...)
	if err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
	return out
}

func output(dir string, command ...string) (string, error) {
	_ = os.Getenv("SNOWKEY_TEST_RUN") // as testserver.Uncached does
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
