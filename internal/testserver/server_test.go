//go:build unix

package testserver

import (
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

const (
	patience   = 3 * time.Minute        // for what must happen
	impatience = 200 * time.Millisecond // for what must not
)

// TestBackends checks that Pause and Kill reach the processes in other sessions.
func TestBackends(t *testing.T) {
	s := NewPostgres(t)
	db, err := sql.Open("pgx", s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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

// TestFamily checks that a process that has ended, or is not ours, has no family: it is not killed.
func TestFamily(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exit 0")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{cmd.Process.Pid, os.Getpid(), os.Getppid(), 1} {
		if tree, err := family(pid, t.TempDir()); err != nil || len(tree) > 0 {
			t.Errorf("family of %d: %v, %v", pid, tree, err)
		}
	}
}

// slow skips the test unless SNOWKEY_TEST_FULL=1. ./test.sh sets it.
func slow(t testing.TB) {
	t.Helper()
	Uncached()
	if !enabled("SNOWKEY_TEST_FULL") {
		t.Skip("slow: runs with SNOWKEY_TEST_FULL=1, as in ./test.sh")
	}
}

// TestPortTaken lets the first address be one where a server of the same kind
// answers: it must not be mistaken for the new one.
func TestPortTaken(t *testing.T) {
	slow(t)
	for kind, start := range map[Kind]func(testing.TB) *Server{
		KindPostgres: NewPostgres, KindMariaDB: NewMariaDB, KindRedis: NewRedis, KindEtcd: NewEtcd,
	} {
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
			if err := s.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The last snapshot is put back.
func TestSnapshot(t *testing.T) {
	s := NewPostgres(t)
	marker := s.in("data/marker")
	var errs []error
	for _, text := range []string{"first", "second"} {
		errs = append(errs, os.WriteFile(marker, []byte(text), 0o600), s.Snapshot())
	}
	errs = append(errs, os.WriteFile(marker, []byte("third"), 0o600), s.Kill(), s.PutBack(), s.Start())
	text, err := os.ReadFile(marker)
	if err := errors.Join(append(errs, err)...); err != nil || string(text) != "second" {
		t.Errorf("%q, %v", text, err)
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
