package testserver

import (
	"os/exec"
	"sync"
	"testing"
)

// Kind names a kind of server.
type Kind string

// The kinds of servers.
const (
	KindPostgres Kind = "postgres"
	KindMariaDB  Kind = "mariadb" // also what SNOWKEY_TEST_MYSQL names, of whatever make
	KindRedis    Kind = "redis"
	KindEtcd     Kind = "etcd"
)

// Server is one server that tests can connect to.
//
// Its methods may be called by several goroutines; they run one at a time.
type Server struct {
	Kind Kind

	// Addr is the server's host:port.
	Addr string

	// DSN is what the client of the kind takes: PostgreSQL a URL, MariaDB the
	// DSN of go-sql-driver/mysql, Redis a host:port (or the redis:// URL that
	// SNOWKEY_TEST_REDIS holds), etcd the URL of an endpoint.
	DSN string

	engine    *engine
	external  bool
	programs  []string // paths, in the order of engine.programs
	arguments []string // the caller's, after those of the engine
	dir       string   // everything the server writes
	version   string   // as the environment asked for it and the server said; else empty
	tag       string   // part of the command line of each of its processes
	member    *member  // of a cluster; nil: a single server
	releases  []func() // free the ports that it holds

	mu     sync.Mutex
	cmd    *exec.Cmd     // nil before the first start
	exited chan struct{} // closed when cmd has ended and was waited for
}

// External reports whether the server was given by an environment variable.
// Such a server cannot be killed, paused, stopped or started.
func (s *Server) External() bool { return s.external }

// Postgres returns the PostgreSQL server which the tests of this binary share.
func Postgres(t testing.TB) *Server { t.Helper(); return sharedFor(t, KindPostgres) }

// MariaDB returns the MariaDB server which the tests of this binary share.
// Use [MySQLs] for tests that should run over every server of that protocol.
func MariaDB(t testing.TB) *Server { t.Helper(); return sharedFor(t, KindMariaDB) }

// Redis returns the Redis server which the tests of this binary share.
func Redis(t testing.TB) *Server { t.Helper(); return sharedFor(t, KindRedis) }

// Etcd returns the etcd server which the tests of this binary share: one member.
func Etcd(t testing.TB) *Server { t.Helper(); return sharedFor(t, KindEtcd) }

// NewPostgres starts a PostgreSQL server for this test alone.
func NewPostgres(t testing.TB) *Server { t.Helper(); return New(t, KindPostgres) }

// NewMariaDB starts a MariaDB server for this test alone.
func NewMariaDB(t testing.TB) *Server { t.Helper(); return New(t, KindMariaDB) }

// NewRedis starts a Redis server for this test alone.
func NewRedis(t testing.TB) *Server { t.Helper(); return New(t, KindRedis) }

// NewEtcd starts an etcd server of one member for this test alone.
func NewEtcd(t testing.TB) *Server { t.Helper(); return New(t, KindEtcd) }

// New starts a server of a kind for this test alone, with arguments that follow
// those of the package on its command line, at every start, and win over them:
// "-c", "fsync=on" for PostgreSQL.
func New(t testing.TB, kind Kind, arguments ...string) *Server {
	t.Helper()
	return startFor(t, engines()[kind], arguments...)
}

// External returns the server that the environment gives for kind, if any.
func External(t testing.TB, kind Kind) (*Server, bool) {
	t.Helper()
	s, err := external(engines()[kind])
	if err != nil {
		t.Fatal(err)
	}
	return s, s != nil
}

// MySQLs returns every server of MySQL's protocol that tests should run over:
// the shared MariaDB and the one that SNOWKEY_TEST_MYSQL gives. There is at
// least one, or the test is skipped or failed as [MariaDB] would do.
func MySQLs(t testing.TB) []*Server {
	t.Helper()
	servers := []*Server{MariaDB(t)}
	if servers[0].External() {
		return servers
	}
	if s, ok := External(t, KindMariaDB); ok {
		servers = append(servers, s)
	}
	return servers
}

func sharedFor(t testing.TB, kind Kind) *Server {
	t.Helper()
	e := engines()[kind]
	if !e.additional {
		if s, ok := External(t, kind); ok {
			return s
		}
	}
	skipShort(t)
	s, err := sharedServer(e)
	if isMissing(err) {
		if s, ok := External(t, kind); ok {
			return s
		}
	}
	if err != nil {
		skipOrFail(t, err)
		return nil
	}
	s.logVersion(t)
	return s
}

// startFor starts a server that ends with the test.
func startFor(t testing.TB, e *engine, arguments ...string) *Server {
	t.Helper()
	skipShort(t)
	s, err := boot(e, freeAddr, arguments...)
	if err != nil {
		skipOrFail(t, err)
		return nil
	}
	s.logVersion(t)
	s.removeAfter(t)
	return s
}

// removeAfter removes the server after the test, and logs the end of its log if that failed.
func (s *Server) removeAfter(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", s, s.logTail(0))
		}
		if err := s.remove(); err != nil {
			t.Errorf("remove %s: %v", s, err)
		}
	})
}

// String names the server for messages, without its password.
func (s *Server) String() string { return string(s.Kind) + " at " + s.Addr }
