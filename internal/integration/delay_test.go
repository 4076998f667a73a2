package integration

import (
	"net"
	"sync"
	"testing"
	"time"
)

// delayed is the address of a proxy before server that adds roundTrip to all
// bytes alike, however many are under way, as a network does. All of it is added
// on the way back: two short sleeps would be longer than one, and nobody can
// tell the difference.
func delayed(t testing.TB, server string, roundTrip time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			wg.Go(func() { carry(client, upstream, 0) })
			wg.Go(func() { carry(upstream, client, roundTrip) })
		}
	})
	return l.Addr().String()
}

// carry moves what from sends to to, each piece a delay after it came.
func carry(from, to net.Conn, delay time.Duration) {
	type piece struct {
		due  time.Time
		data []byte
	}
	pieces := make(chan piece, 4096)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for p := range pieces {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				_ = from.Close() // ends the reader
			}
		}
		_ = to.Close()
	}()
	for {
		buf := make([]byte, 64<<10)
		n, err := from.Read(buf)
		if n > 0 {
			pieces <- piece{time.Now().Add(delay), buf[:n]}
		}
		if err != nil {
			break
		}
	}
	close(pieces)
	<-done
	_ = from.Close()
}

// The proxy delays what it should, by about what it should, and loses nothing.
func TestDelayed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // an echo
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buf := make([]byte, 100)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			_, _ = conn.Write(buf[:n])
		}
	}()
	const roundTrip = 20 * time.Millisecond
	conn, err := net.Dial("tcp", delayed(t, l.Addr().String(), roundTrip))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	buf := make([]byte, 5)
	for range 3 {
		if _, err := conn.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(buf); err != nil || string(buf[:n]) != "hello" {
			t.Fatalf("%q, %v", buf[:n], err)
		}
	}
	if d := time.Since(began); d < 3*roundTrip {
		t.Errorf("three round trips in %v", d)
	}
}
