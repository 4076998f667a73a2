package outage

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A link is the way to a server that is not ours to kill. It can be cut: its connections
// are closed, and new ones as soon as they are made.
type link struct {
	server string
	ln     net.Listener
	wg     sync.WaitGroup

	mu   sync.Mutex
	down bool
	open []net.Conn
}

// linkTo gives one to a server's host:port. It ends with the test.
func linkTo(t *testing.T, server string) *link {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l := &link{server: server, ln: ln}
	l.wg.Go(l.accept)
	t.Cleanup(func() {
		_ = ln.Close()
		_ = l.cut()
		l.wg.Wait()
	})
	return l
}

func (l *link) accept() {
	for {
		client, err := l.ln.Accept()
		if err != nil {
			return
		}
		l.join(client)
	}
}

func (l *link) join(client net.Conn) {
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

func (l *link) cut() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.down = true; len(l.open) > 0; l.open = l.open[1:] {
		_ = l.open[0].Close() // most are closed already
	}
	return nil
}

func (l *link) mend() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
	return nil
}
