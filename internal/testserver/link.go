package testserver

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A Link is the network between clients and a server: a proxy that can be cut. It ends with
// the test. Its methods may be called by several goroutines.
type Link struct {
	// Addr is the host:port for the clients.
	Addr string

	server string
	ln     net.Listener
	wg     sync.WaitGroup

	mu   sync.Mutex
	down bool
	open []net.Conn
}

// LinkTo makes a link to a server's host:port.
func LinkTo(t testing.TB, server string) *Link {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{Addr: ln.Addr().String(), server: server, ln: ln}
	l.wg.Go(l.accept)
	t.Cleanup(func() {
		_ = ln.Close()
		l.Cut()
		l.wg.Wait()
	})
	return l
}

func (l *Link) accept() {
	for {
		client, err := l.ln.Accept()
		if err != nil {
			return
		}
		l.join(client)
	}
}

func (l *Link) join(client net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		_ = client.Close()
		return
	}
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		_ = client.Close()
		return
	}
	l.open = append(l.open, client, server)
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_, _ = to.Close(), from.Close()
	}
	l.wg.Go(func() { carry(server, client) })
	l.wg.Go(func() { carry(client, server) })
}

// Cut closes all connections, and new ones as soon as they are made, until Mend.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.down = true; len(l.open) > 0; l.open = l.open[1:] {
		_ = l.open[0].Close() // most are closed already
	}
}

// Mend lets connections through again.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}
