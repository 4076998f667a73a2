package rules

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// redocly is the linter of OpenAPI descriptions: one package of npm without dependencies.
const redocly = "@redocly/cli@2.77.0"

// descriptions of APIs.
var descriptions = []string{"cmd/snowkey/internal/web/openapi.json", "examples/jsonapi/openapi.yaml"}

// The linter accepts the descriptions of all APIs, and it notices a wrong one. That servers answer
// as they are described is tested in internal/integration/browser.
func TestOpenAPI(t *testing.T) {
	required := os.Getenv("SNOWKEY_TEST_NPX") == "1"
	if os.Getenv("SNOWKEY_TEST_FULL") != "1" && !required {
		t.Skip("downloads a linter: SNOWKEY_TEST_FULL=1 runs it")
	}
	if err := exec.Command("npx", "--yes", redocly, "--version").Run(); err != nil {
		if required {
			t.Fatalf("npx %s: %v; SNOWKEY_TEST_NPX=1", redocly, err)
		}
		t.Skip("no npx, or no Node.js 20.19 or later")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	lint := func(dir string) (string, error) {
		// Not every operation can be refused: a probe cannot.
		cmd := exec.Command("npx", append([]string{"--yes", redocly, "lint", "--skip-rule=operation-4xx-response", "--max-problems=50"}, descriptions...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), err
	}
	out, err := lint(root)
	if err != nil || strings.Contains(out, "You have ") {
		t.Errorf("%v\n%s", err, out)
	}
	dir := t.TempDir()
	for _, name := range descriptions {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		wrong := strings.NewReplacer(`"minItems": 1,`, `"minItems": "one",`, "minItems: 1\n", "minItems: one\n").Replace(string(text))
		if wrong == string(text) {
			t.Fatalf("%s has no minItems", name)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err = lint(dir)
	for _, name := range descriptions {
		if err == nil || !strings.Contains(out, "] "+name+":") {
			t.Errorf("a wrong %s passes: %v\n%s", name, err, out)
		}
	}
}
