package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// If it is set, the test binary is the program itself, so that tests can start, interrupt
// and kill it.
const asProgram = "SNOWKEY_CLI_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// program runs the command in a new process.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// noon is the time of commands that run in this process.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// endless is far longer than any command takes on a busy machine.
const endless = 3 * time.Minute

type result struct {
	args     []string
	out, err string
	code     int
}

// want checks the exit code, and parts of what is printed.
func (r result) want(t *testing.T, code int, out, err string) {
	t.Helper()
	if r.code != code || !strings.Contains(r.out, out) || !strings.Contains(r.err, err) {
		t.Errorf("%q: exit code %d, want %d with %q and %q:\n%s%s", r.args, r.code, code, out, err, r.out, r.err)
	}
}

// says checks the exit code and a part of the message, and that nothing else is printed.
func (r result) says(t *testing.T, code int, err string) {
	t.Helper()
	r.want(t, code, "", err)
	if r.out != "" {
		t.Errorf("%q prints %s", r.args, r.out)
	}
}

// decoded returns the JSON that a command has printed.
func decoded[T any](t *testing.T, r result) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), &v); err != nil || r.code != 0 {
		t.Fatalf("%q: exit code %d, %v\n%s%s", r.args, r.code, err, r.out, r.err)
	}
	return v
}

// run runs a command line in this process.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t, Env{}, args...)
}

// runWith runs it in env, with defaults.
func runWith(t *testing.T, env Env, args ...string) result {
	t.Helper()
	return runIn(t.Context(), env, args...)
}

func runIn(ctx context.Context, env Env, args ...string) result {
	var out, err bytes.Buffer
	if env.In == nil {
		env.In = strings.NewReader("")
	}
	env.Out, env.Err = &out, &err
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	env.Version = "v1.2.3, go1.26.8"
	ctx, cancel := context.WithTimeout(ctx, endless) // a command that should have been rejected may not end
	defer cancel()
	code := Run(ctx, args, env)
	return result{args, out.String(), err.String(), code}
}

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func environment(name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return ""
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
