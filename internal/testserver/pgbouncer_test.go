//go:build unix

package testserver

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// In transaction mode, two clients share one server connection, so one sees what the other has set;
// in session mode, each has its own. It is the settings that make the difference.
func TestPgBouncer(t *testing.T) {
	postgres := NewPostgres(t)
	for mode, shared := range map[string]bool{"transaction": true, "session": false} {
		t.Run(mode, func(t *testing.T) {
			s := NewPgBouncer(t, postgres, "pool_mode = "+mode, fmt.Sprintf("default_pool_size = %d", map[bool]int{true: 1, false: 2}[shared]))
			if err := errors.Join(s.Kill(), s.Start(), s.Restart()); err != nil {
				t.Fatal(err)
			}
			clients := []net.Conn{pgLogin(t, s), pgLogin(t, s)}
			if _, err := postgresQuery(clients[0], "SET work_mem = '1234kB'"); err != nil {
				t.Fatal(err)
			}
			seen, err := postgresQuery(clients[1], "SHOW work_mem")
			if err != nil || strings.Contains(seen, "1234kB") != shared {
				t.Errorf("the other client sees %q, %v; want the first one's setting: %t", seen, err, shared)
			}
		})
	}
}

func pgLogin(t *testing.T, s *Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if err := postgresLogin(conn); err != nil {
		t.Fatal(err)
	}
	return conn
}
