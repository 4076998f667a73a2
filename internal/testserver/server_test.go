//go:build unix

package testserver

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

const (
	patience   = 3 * time.Minute        // for what must happen
	impatience = 200 * time.Millisecond // for what must not
)

func TestShared(t *testing.T) {
	for kind, start := range map[Kind]func(testing.TB) *Server{
		KindPostgres: Postgres, KindMariaDB: MariaDB, KindRedis: Redis, KindEtcd: Etcd,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Setenv(engines()[kind].dsnVar, "")
			s := start(t)
			if s.Kind != kind || s.External() || !strings.Contains(s.DSN, s.Addr) {
				t.Errorf("server %q, external %v, DSN %q", s, s.External(), s.DSN)
			}
			if host, _, err := net.SplitHostPort(s.Addr); err != nil || host != "127.0.0.1" {
				t.Errorf("address %q, %v", s.Addr, err)
			}
			if again := start(t); again != s {
				t.Errorf("a second server: %s beside %s", again, s)
			}
		})
	}
}

// TestArguments checks that a caller's arguments win over the package's.
func TestArguments(t *testing.T) {
	for kind, c := range map[Kind]struct {
		argument  []string
		ask, want string
	}{
		KindPostgres: {[]string{"-c", "fsync=on"}, "SHOW fsync", "on"},
		KindMariaDB:  {[]string{"--innodb-flush-log-at-trx-commit=1"}, "SELECT @@innodb_flush_log_at_trx_commit + 60", "61"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			s := New(t, kind, c.argument...)
			answer, err := call(s, patience, c.ask)
			if err != nil || !strings.Contains(answer, c.want) {
				t.Errorf("%s: %q, %v; want %s", c.ask, answer, err, c.want)
			}
		})
	}
}

// TestRun checks that a program gets a server of its own, and leaves nothing.
func TestRun(t *testing.T) {
	shared := Postgres(t) // or skip
	s, stop, err := Run(KindPostgres)
	if err != nil {
		t.Fatal(err)
	}
	if s == shared || s.Addr == shared.Addr || s.External() {
		t.Errorf("%s is not its own", s)
	}
	if err := put(s, patience, "x"); err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := get(s, impatience, ""); err == nil {
		t.Error("it answers after its end")
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("its data is there: %v", err)
	}
	t.Setenv("SNOWKEY_TEST_POSTGRES_BIN", t.TempDir())
	if _, _, err := Run(KindPostgres); err == nil || !strings.Contains(err.Error(), "SNOWKEY_TEST_POSTGRES_BIN") {
		t.Errorf("%v", err)
	}
}

// TestLifecycle takes a private server of each kind through all of its states.
func TestLifecycle(t *testing.T) {
	Slow(t)
	for kind, start := range starters() {
		t.Run(string(kind), func(t *testing.T) {
			began := time.Now()
			s := start(t)
			t.Logf("%s: ready after %v", s, time.Since(began).Round(time.Millisecond))
			addr := s.Addr
			do := func(name string, f func() error) {
				t.Helper()
				if err := f(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			refuse := func(name string, f func() error) {
				t.Helper()
				if err := f(); err == nil || !strings.Contains(err.Error(), addr) {
					t.Errorf("%s: %v, want an error that names %s", name, err, addr)
				}
			}
			answers := func() {
				t.Helper()
				if s.Addr != addr {
					t.Fatalf("the address changed to %s", s.Addr)
				}
				if err := get(s, patience, "before-the-crash"); err != nil {
					t.Fatal(err)
				}
			}
			silent := func() {
				t.Helper()
				if err := get(s, impatience, ""); err == nil {
					t.Fatal("it answers")
				}
			}
			if err := put(s, patience, "before-the-crash"); err != nil {
				t.Fatal(err)
			}
			do("Kill", s.Kill) // at once: what was acknowledged must be there
			silent()
			refuse("Kill", s.Kill)
			refuse("Stop", s.Stop)
			refuse("Pause", s.Pause)
			refuse("Resume", s.Resume)
			refuse("Restart", s.Restart)
			do("Start", s.Start)
			answers()
			refuse("Start", s.Start)

			do("Pause", s.Pause)
			silent()
			do("Pause", s.Pause)
			do("Resume", s.Resume)
			answers()
			do("Resume", s.Resume)

			do("Restart", s.Restart)
			answers()
			do("Stop", s.Stop)
			silent()
			do("Start", s.Start)
			answers()

			do("Pause", s.Pause)
			do("Stop", s.Stop)
			do("Start", s.Start)
			do("Pause", s.Pause)
			do("Kill", s.Kill)
			do("Start", s.Start)
			answers()
			do("Pause", s.Pause) // and t.Cleanup must cope with it
		})
	}
}

// TestBackends checks that Pause and Kill reach the processes in other sessions.
func TestBackends(t *testing.T) {
	s := NewPostgres(t)
	conn := connect(t, s.DSN)
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(t.Context(), "SELECT 1")
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("a connection of before the pause answers: %v", err)
	case <-time.After(impatience):
	}
	tree := mustFamily(t, s)
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("answer after the pause: %v", err)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := awaitGone(tree, 0); err != nil {
		t.Errorf("after Kill: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), "SELECT 1"); err == nil {
		t.Error("the connection outlived Kill")
	}
}

// TestPortTaken lets the first address be one where a server of the same kind
// answers: it must not be mistaken for the new one.
func TestPortTaken(t *testing.T) {
	Slow(t)
	for kind, start := range starters() {
		t.Run(string(kind), func(t *testing.T) {
			taken := start(t).Addr
			tries := 0
			s, err := boot(engines()[kind], func() (string, error) {
				if tries++; tries == 1 {
					return taken, nil
				}
				return freeAddr()
			})
			if err != nil {
				t.Fatal(err)
			}
			if tries != 2 || s.Addr == taken {
				t.Errorf("%d tries, address %s, taken was %s", tries, s.Addr, taken)
			}
			if err := put(s, patience, "x"); err != nil {
				t.Error(err)
			}
			if err := s.remove(); err != nil {
				t.Error(err)
			}
		})
	}
}

func mustFamily(t testing.TB, s *Server) []process {
	t.Helper()
	tree, err := s.family()
	if err != nil || len(tree) == 0 {
		t.Fatalf("%v, %v", tree, err)
	}
	return tree
}
