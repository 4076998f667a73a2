package testserver

import (
	"net"
	"testing"
)

// FreeAddr returns a host:port of 127.0.0.1 whose port is free, for a server that the test itself
// starts, ends and starts again. On Linux no other process gets that port until the test ends.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
		return ""
	}
	t.Cleanup(holdPort(addr))
	return addr
}

// freeAddr returns an address of 127.0.0.1 whose port is free.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr) // freeAddr makes no other address
	return port
}

// holdPort keeps the port of an address from other processes while its server is down.
func (s *Server) holdPort(addr string) { s.releases = append(s.releases, holdPort(addr)) }

func (s *Server) releasePorts() {
	for _, release := range s.releases {
		release()
	}
	s.releases = nil
}
