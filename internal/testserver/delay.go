package testserver

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Delayed returns the address of a proxy in front of server, a host:port. It delays all bytes
// by roundTrip, however many are in flight, as a network does. The whole delay is on the way
// back: two short sleeps would take longer than one, and clients see no difference. The proxy
// and its open connections end with the test.
func Delayed(t testing.TB, server string, roundTrip time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var open []net.Conn // of the goroutine that accepts, until it has ended
	accepted := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-accepted
		for _, c := range open {
			_ = c.Close()
		}
		wg.Wait()
	})
	wg.Go(func() {
		defer close(accepted)
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
			open = append(open, client, upstream)
			wg.Go(func() { carry(client, upstream, 0) })
			wg.Go(func() { carry(upstream, client, roundTrip) })
		}
	})
	return l.Addr().String()
}

// carry copies from one connection to the other, and delays each piece.
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
