// Package network gives tests a network between clients and a server: one that is slow, that is cut,
// or that falls silent.
package network

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Link is the network between clients and a server: a proxy that can be cut or fall silent. It
// ends with the test. Its methods may be called by several goroutines.
type Link struct {
	Addr string // the host:port for the clients

	server    string
	roundTrip time.Duration
	wg        sync.WaitGroup
	mu        sync.Mutex
	down      bool
	silent    bool
	open      []net.Conn
	lost      map[net.Conn]bool // carries nothing any more
	dialed    int               // by clients
	carried   int               // now, to the server
	turns     atomic.Int64
}

// Turns returns how often clients have waited for the server: how many of its answers, and of its
// first words, came right after something that a client had sent or after the connection was made.
func (l *Link) Turns() int64 { return l.turns.Load() }

// LinkTo makes a link to a server's host:port.
func LinkTo(t testing.TB, server string) *Link {
	t.Helper()
	return link(t, server, 0)
}

// Delayed returns the address of a proxy in front of server, a host:port. It delays all bytes by
// roundTrip, however many are in flight, as a network does. The whole delay is on the way back: two
// short sleeps would take longer than one, and clients see no difference.
func Delayed(t testing.TB, server string, roundTrip time.Duration) string {
	t.Helper()
	return link(t, server, roundTrip).Addr
}

func link(t testing.TB, server string, roundTrip time.Duration) *Link {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{Addr: ln.Addr().String(), server: server, roundTrip: roundTrip, lost: map[net.Conn]bool{}}
	l.wg.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			l.join(client)
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		l.Cut()
		l.wg.Wait()
	})
	return l
}

func (l *Link) join(client net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialed++
	l.open = append(l.open, client)
	if l.down {
		l.closeAll()
		return
	}
	if l.silent {
		return
	}
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		_ = client.Close()
		return
	}
	l.open = append(l.open, server)
	l.carried++
	var waits atomic.Bool // whether the client waits for the server
	waits.Store(true)
	l.wg.Go(func() {
		l.carry(client, server, 0, func() { waits.Store(true) })
		l.mu.Lock()
		defer l.mu.Unlock()
		l.carried--
	})
	l.wg.Go(func() {
		l.carry(server, client, l.roundTrip, func() {
			if waits.Swap(false) {
				l.turns.Add(1)
			}
		})
	})
}

// carry copies from one connection to the other, and delays each piece. It calls seen first.
func (l *Link) carry(from, to net.Conn, delay time.Duration, seen func()) {
	type piece struct {
		due  time.Time
		data []byte
	}
	pieces := make(chan piece, 4096)
	l.wg.Go(func() {
		for p := range pieces {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				_ = from.Close() // ends the reader
			}
		}
		_, _ = to.Close(), from.Close()
	})
	defer close(pieces)
	for {
		buf := make([]byte, 64<<10)
		n, err := from.Read(buf)
		l.mu.Lock()
		lost := l.lost[from]
		l.mu.Unlock()
		if n > 0 && !lost {
			seen()
			pieces <- piece{time.Now().Add(delay), buf[:n]}
		}
		if err != nil {
			return
		}
	}
}

// Cut closes all connections, and new ones as soon as they are made, until Mend.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	l.closeAll()
}

// Silence loses all that open connections carry from now on, for good, as a firewall does that has
// forgotten them. None is closed. New ones are lost too, until Mend.
func (l *Link) Silence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = true
	for _, c := range l.open {
		l.lost[c] = true
	}
}

// Lead makes new connections lead to another server's host:port, as after a failover.
func (l *Link) Lead(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server
}

// Connections returns how many connections clients have made, and how many now lead to the server.
func (l *Link) Connections() (dialed, carried int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialed, l.carried
}

func (l *Link) closeAll() {
	for ; len(l.open) > 0; l.open = l.open[1:] {
		_ = l.open[0].Close() // most are closed already
	}
}

// Mend lets connections through again.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.silent = false, false
}
