//go:build race

package worker_test

import (
	"os"
	"runtime"
	"testing"
)

// TestMain leaves the tests one processor under the race detector, which crashes if two
// goroutines of a synctest bubble find their timers due on two of them (golang/go#78156).
// It finds races on one as well.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}
