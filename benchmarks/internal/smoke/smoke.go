// Package smoke runs all benchmarks of a test binary once, at the small scale, so that the
// module's tests show whether they work.
package smoke

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
)

// Run runs each benchmark of the calling test's binary once, in its own process. The
// test fails if a benchmark fails, or if one that want names prints no figure.
func Run(t *testing.T, want ...string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := []string{"-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.v"}
	if deadline, ok := t.Deadline(); ok { // before this one, so that it prints where it hangs, and ends its servers
		args = append(args, "-test.timeout="+max(time.Until(deadline)-15*time.Second, time.Second).String())
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	// -test.v also prints which benchmarks were skipped.
	cmd.Env = append(os.Environ(), scale.Variable+"=small", scale.Round+"=1")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text := out.String()
	if why, ok := skipped(text); ok {
		t.Skipf("a benchmark was skipped: %s", why)
	}
	for _, name := range want {
		if !regexp.MustCompile(`(?m)^Benchmark` + name + `[/-].*\t`).MatchString(text) {
			t.Errorf("Benchmark%s printed no figure; the output:\n%s", name, text)
		}
	}
}

// skipped reports whether a benchmark was skipped, and the reason in one line: test.sh
// compares it with the allowed reasons.
func skipped(text string) (why string, ok bool) {
	why = "it gave no reason"
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "--- SKIP") {
			return why, true
		}
		// "    server.go:120: no private postgres: …", above that line
		if place, reason, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.Contains(place, ".go:") {
			why = reason
		}
	}
	return "", false
}
