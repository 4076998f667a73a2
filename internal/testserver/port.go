package testserver

import "testing"

// FreeAddr returns a host:port of 127.0.0.1 whose port is free, for a server that the
// test itself starts, ends and starts again. On Linux no other process gets that port
// until the test ends.
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
