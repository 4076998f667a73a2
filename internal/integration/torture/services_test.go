//go:build unix

package torture

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A service is the server or file of a store, and the ways in which it fails.
type service struct {
	name string
	dsn  string
	// fail makes the store fail once, and repairs it. It returns the kind of failure, or "" if
	// nothing could fail yet.
	fail func(r *random) (how string, err error)
	// ways are those in which it forgets. believe writes a namespace, without any condition.
	ways    []forgetting
	believe func(ns driver.Namespace) error
}

// longest is the longest failure of a service.
const longest = 2500 * time.Millisecond

// patience is the timeout of what must happen, on a busy machine.
const patience = 2 * time.Minute

func rest(r *random) { time.Sleep(r.duration(100*time.Millisecond, longest)) }

// startService starts one store by name.
func startService(t *testing.T, name, dir string) *service {
	t.Helper()
	s := &service{name: name}
	switch name {
	case "postgres":
		server := testserver.NewPostgres(t)
		s.of(server)
		s.ways = append(s.forgetsSQL("pgx", s.dsn), putBack(server))
	case "mariadb":
		server := testserver.NewMariaDB(t)
		s.of(server)
		s.ways = append(s.forgetsSQL("mysql", s.dsn), putBack(server))
	case "redis":
		server := testserver.NewRedis(t)
		s.of(server)
		s.forgetsRedis(server)
	case "etcd":
		server := testserver.NewEtcd(t)
		s.of(server)
		s.forgetsEtcd(server, dir)
	case "sqlite":
		s.dsn = sqliteIn(dir)
		s.fail = func(r *random) (string, error) { return lockSQLite(s.dsn, r) }
		s.forgetsSQL("sqlite", s.dsn) // a process that is stopped may have a lock: its records are not deleted
		s.ways = []forgetting{s.forgetsFile(s.dsn, nil, nil)}
	case "httpstore":
		startHandler(t, s, sqliteIn(dir))
	default:
		t.Fatalf("no store %q", name)
	}
	return s
}

// of uses its own server, which is killed, paused and restarted.
func (s *service) of(server *testserver.Server) {
	s.dsn = server.DSN
	s.fail = func(r *random) (string, error) {
		switch r.below(3) {
		case 0:
			if err := server.Pause(); err != nil {
				return "", err
			}
			rest(r)
			return "paused", server.Resume()
		case 1:
			return "restarted", server.Restart()
		}
		if err := server.Kill(); err != nil {
			return "", err
		}
		rest(r)
		return "killed", server.Start()
	}
}

func sqliteIn(dir string) string {
	return "file:" + filepath.Join(dir, "numbers.sqlite") + "?_pragma=busy_timeout(300)&_pragma=journal_mode(wal)&_pragma=synchronous(2)"
}

// lockSQLite blocks all writers for a while, as a backup does.
func lockSQLite(dsn string, r *random) (how string, err error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	for deadline := time.Now().Add(patience); ; {
		if _, err = db.Exec("BEGIN EXCLUSIVE"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			if strings.Contains(err.Error(), "SQLITE_BUSY") { // the others were always faster: another time
				return "", nil
			}
			return "", err
		}
	}
	rest(r)
	_, err = db.Exec("ROLLBACK")
	return "locked", err
}

// startHandler starts an HTTP server in front of a store in SQLite: a separate process.
func startHandler(t *testing.T, s *service, behind string) {
	t.Helper()
	addr := testserver.FreeAddr(t)
	s.dsn = "http://" + addr + "/leases"
	errs := filepath.Join(t.TempDir(), "handler")
	start := func() (*process, error) {
		p, err := startProcess(task{Role: handlerRole, Store: "sqlite", DSN: behind, Addr: addr, Errors: errs})
		if err != nil {
			return nil, err
		}
		for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			c, err := net.Dial("tcp", addr)
			if err == nil {
				return p, c.Close()
			}
			if p.ended() || time.Now().After(deadline) {
				p.kill()
				return nil, fmt.Errorf("the handler does not answer: %w; it said: %s", err, p.said())
			}
		}
	}
	p, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	s.ways = append(s.forgetsSQL("sqlite", behind), s.forgetsFile(behind, func() error { p.kill(); return nil }, func() error {
		next, err := start()
		if err == nil {
			p = next
		}
		return err
	}))
	s.fail = func(r *random) (string, error) {
		if p.ended() {
			return "", fmt.Errorf("the handler has ended; it said: %s", p.said())
		}
		if r.oneIn(3) {
			p.signal(syscall.SIGSTOP)
			rest(r)
			p.signal(syscall.SIGCONT)
			return "paused", nil
		}
		p.kill()
		rest(r)
		next, err := start()
		if err == nil {
			p = next
		}
		return "killed", err
	}
}
