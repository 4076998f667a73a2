package testserver

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"testing"
)

const (
	requireVar = "SNOWKEY_TEST_REQUIRE" // a missing program fails the test instead of skipping it
	fullVar    = "SNOWKEY_TEST_FULL"    // tests of the test servers and of the model run too
	runVar     = "SNOWKEY_TEST_RUN"     // a folder of this run of ./test.sh alone
)

// Uncached keeps go test from taking the result of this test binary from an earlier run of
// ./test.sh. Tests of more than Go code call it: go test remembers which variables a test has read.
// What starts or finds a server calls it too.
func Uncached() { _ = os.Getenv(runVar) }

// Slow skips the test unless SNOWKEY_TEST_FULL=1. ./test.sh sets it.
func Slow(t testing.TB) {
	t.Helper()
	Uncached()
	if !enabled(fullVar) {
		t.Skipf("slow: runs with %s=1, as in ./test.sh", fullVar)
	}
}

// skipShort skips the test under go test -short, which starts no server.
// SNOWKEY_TEST_REQUIRE=1 overrides that.
func skipShort(t testing.TB) {
	t.Helper()
	Uncached()
	if testing.Short() && !required() {
		t.Skip("starts a server, and -short starts none")
	}
}

// missingError is returned when a server's programs are not on this machine.
type missingError struct {
	engine *engine
	reason string
}

func (e *missingError) Error() string {
	m := e.engine
	s := fmt.Sprintf("no private %s: %s; install the Debian packages %s, or set %s to the folder of its programs",
		m.kind, e.reason, m.packages, m.binVar)
	if m.dsnVar == "" {
		return s
	}
	return s + fmt.Sprintf(", or set %s to the DSN of a running server (not for tests that kill it)", m.dsnVar)
}

func isMissing(err error) bool {
	var m *missingError
	return errors.As(err, &m)
}

// required reports whether a missing server fails the tests.
func required() bool { return enabled(requireVar) }

func enabled(variable string) bool {
	v := os.Getenv(variable)
	return v != "" && v != "0"
}

// skipOrFail skips the test if err is about something not installed, else fails it.
func skipOrFail(t testing.TB, err error) {
	t.Helper()
	if isMissing(err) && !required() {
		t.Skipf("%v; %s=1 makes this a failure", err, requireVar)
		return
	}
	t.Fatal(err)
}

// external returns the server that the environment gives, or nil.
func external(e *engine) (*Server, error) {
	Uncached()
	dsn := os.Getenv(e.dsnVar)
	if dsn == "" {
		return nil, nil
	}
	addr, err := e.address(dsn)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.dsnVar, err)
	}
	return &Server{Kind: e.kind, Addr: addr, DSN: dsn, engine: e, external: true}, nil
}

// urlAddress returns the host:port of a URL with one of the schemes.
func urlAddress(dsn, defaultPort string, schemes ...string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		// The error of package url quotes the text, and with it the password.
		return "", fmt.Errorf("not a URL, want %s://host:%s", schemes[0], defaultPort)
	}
	if !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" {
		return "", fmt.Errorf("scheme %q and host %q, want %s://host:%s", u.Scheme, u.Host, schemes[0], defaultPort)
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}
