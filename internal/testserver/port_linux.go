package testserver

import (
	"net"
	"syscall"
)

// holdPort takes the port of an address without listening on it. Until it is released,
// the system does not assign the port to a process that asks for any free one, and it
// refuses connections. A server that asks for this port gets it, because both sockets set
// SO_REUSEADDR.
func holdPort(addr string) (release func()) {
	want, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return func() {}
	}
	// It is closed in whatever is started: a server that outlives the tests holds nothing.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	at := &syscall.SockaddrInet4{Port: want.Port, Addr: [4]byte(want.IP.To4())}
	if err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
		_ = syscall.Bind(fd, at) // if the port is in use, the server will report it
	}
	return func() { _ = syscall.Close(fd) }
}
