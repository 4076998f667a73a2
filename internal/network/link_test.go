package network

import (
	"io"
	"net"
	"testing"
	"time"
)

// A link carries bytes both ways, closes its connections when it is cut, and carries again
// when it is mended.
func TestLink(t *testing.T) {
	l := LinkTo(t, echo(t))
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", l.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	answers := func(conn net.Conn) bool {
		buf := make([]byte, 5)
		if _, err := conn.Write([]byte("hello")); err != nil {
			return false
		}
		_, err := io.ReadFull(conn, buf)
		return err == nil && string(buf) == "hello"
	}
	before := dial()
	if !answers(before) {
		t.Fatal("it does not carry")
	}
	l.Cut()
	if answers(before) {
		t.Error("the connection is open after Cut")
	}
	if answers(dial()) {
		t.Error("a new connection is open after Cut")
	}
	l.Mend()
	if !answers(dial()) {
		t.Error("it does not carry after Mend")
	}
}
