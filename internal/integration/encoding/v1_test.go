//go:build !goexperiment.jsonv2

package encoding

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

const stdName = std

func v2() []codec { return nil }

// The toolchain's experiment is no part of a plain run, so this one runs the tables with
// encoding/json/v2. test.sh runs sqltype's own tests with it.
func TestUnderJSONv2(t *testing.T) {
	testserver.Uncached()
	env := append(os.Environ(), "GOEXPERIMENT=jsonv2")
	probe := exec.Command("go", "list", "encoding/json/v2")
	probe.Env = env
	out, err := probe.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) || strings.Contains(string(out), "unknown GOEXPERIMENT") {
		t.Logf("there is no toolchain here that has the experiment: %v\n%s", err, out)
		return
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	test := exec.Command("go", "test", "-count=1", "-v", "-run=JSON", ".")
	test.Env = env
	out, err = test.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if name := "--- PASS: TestJSONEncode/" + two; !strings.Contains(string(out), name) {
		t.Errorf("there is no %q in\n%s", name, out)
	}
}
