package testserver

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// A server can listen on a held port again and again. To the system, which assigns free
// ports, it is in use.
func TestPortIsKept(t *testing.T) {
	addr := FreeAddr(t)
	if conn, err := net.DialTimeout("tcp", addr, patience); err == nil {
		_ = conn.Close()
		t.Errorf("something answers at %s", addr)
	}
	unshared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		refused := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0) })
		return errors.Join(err, refused)
	}}
	for range 3 {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if l, err := unshared.Listen(t.Context(), "tcp", addr); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("%v: the port of %s is not held", err, addr)
			if err == nil {
				_ = l.Close()
			}
		}
	}
}
