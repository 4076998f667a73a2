package network

import (
	"io"
	"net"
	"testing"
	"time"
)

// The proxy delays one direction by about the round trip, and loses nothing.
func TestDelayed(t *testing.T) {
	const roundTrip = 20 * time.Millisecond
	conn, err := net.Dial("tcp", Delayed(t, echo(t), roundTrip))
	if err != nil {
		t.Fatal(err)
	}
	// It is left open, which must not block the end of the test.
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	buf := make([]byte, 5)
	for range 3 {
		if _, err := conn.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, buf); err != nil || string(buf) != "hello" {
			t.Fatalf("%q, %v", buf, err)
		}
	}
	if d := time.Since(began); d < 3*roundTrip {
		t.Errorf("three round trips in %v", d)
	}
}

// echo starts a server that sends back what it gets, and returns its address.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return l.Addr().String()
}
