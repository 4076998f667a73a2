package testserver

import (
	"net"
	"syscall"
)

// holdPort takes the port of an address without listening on it. Until it is released,
// the system does not assign the port to a process that asks for any free one, and it
// refuses connections. A server that asks for this port gets it, because both sockets set
// SO_REUSEADDR.
func holdPort(addr string) (release func(), err error) {
	want, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	at := &syscall.SockaddrInet4{Port: want.Port}
	copy(at.Addr[:], want.IP.To4())
	// It is closed in whatever is started: a server that outlives the tests holds nothing.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
		err = syscall.Bind(fd, at)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return func() { _ = syscall.Close(fd) }, nil
}
