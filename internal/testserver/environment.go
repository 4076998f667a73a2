package testserver

import (
	"os"
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

// skipShort skips the test under go test -short, unless SNOWKEY_TEST_REQUIRE=1.
func skipShort(t testing.TB) {
	t.Helper()
	Uncached()
	if testing.Short() && !enabled(requireVar) {
		t.Skip("starts a server, and -short starts none")
	}
}

func enabled(variable string) bool {
	v := os.Getenv(variable)
	return v != "" && v != "0"
}

// skipOrFail skips the test if err is about something not installed, else fails it.
func skipOrFail(t testing.TB, err error) {
	t.Helper()
	if isMissing(err) && !enabled(requireVar) {
		t.Skipf("%v; %s=1 makes this a failure", err, requireVar)
		return
	}
	t.Fatal(err)
}
