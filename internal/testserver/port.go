package testserver

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
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

const probeLimit = 10 * time.Second // of one question to a server

// ask sends a text to a server and returns when its answer holds want.
func ask(addr, send, want string) error {
	conn, err := net.DialTimeout("tcp", addr, probeLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(probeLimit)); err != nil {
		return err
	}
	_, err = io.WriteString(conn, send)
	var answer []byte
	for buf := make([]byte, 4096); !bytes.Contains(answer, []byte(want)); {
		if err != nil {
			return fmt.Errorf("answer %.200q: %w", answer, err)
		}
		var n int
		n, err = conn.Read(buf)
		answer = append(answer, buf[:n]...)
	}
	return nil
}
