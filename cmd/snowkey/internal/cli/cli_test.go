package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// The test binary is the program itself when this is set, so that tests can start,
// interrupt and kill it.
const asProgram = "SNOWKEY_CLI_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// program is the command as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// noon is the time at which runs in this process take place.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// endless is far longer than a run takes on a busy machine.
const endless = 3 * time.Minute

type result struct {
	out, err string
	code     int
}

// run runs a command line in this process.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t, Env{}, args...)
}

// runWith runs it with what is set of env.
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
	if env.Build == nil {
		env.Build = build
	}
	ctx, cancel := context.WithTimeout(ctx, endless) // what should have been refused may run for ever
	defer cancel()
	code := Run(ctx, args, env)
	return result{out.String(), err.String(), code}
}

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

// build is what a released program says of itself.
func build() (*debug.BuildInfo, bool) {
	return &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "github.com/seed-299c1d6b/snowkey/cmd/snowkey", Version: "v1.2.3"},
		Deps:      []*debug.Module{{Path: "github.com/seed-299c1d6b/snowkey", Version: "v1.2.0"}},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-21T08:00:00Z"},
			{Key: "vcs.modified", Value: "true"}, {Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "amd64"},
		},
	}, true
}

func environment(name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return ""
	}
}
