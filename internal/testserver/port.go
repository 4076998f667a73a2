package testserver

import "testing"

// FreeAddr returns a host:port of 127.0.0.1 that nobody listens on, for a server which
// the test itself starts, ends and starts again. On Linux nobody else is given that port
// until the test is over.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
		return ""
	}
	if release, err := holdPort(addr); err == nil {
		t.Cleanup(release)
	}
	return addr
}
