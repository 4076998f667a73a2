package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
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

// Server is one server that tests can connect to. Its methods may be called by several
// goroutines; they run one at a time.
type Server struct {
	Kind Kind

	// Addr is the server's host:port.
	Addr string

	// DSN is what the client takes: PostgreSQL and etcd a URL, MariaDB the DSN of go-sql-driver/mysql,
	// Redis a host:port (or the redis:// URL that SNOWKEY_TEST_REDIS has).
	DSN string

	engine    *engine
	external  bool
	programs  []string // paths, in the order of engine.programs
	arguments []string // the caller's, after those of the engine
	dir       string   // everything the server writes
	version   string   // empty unless the environment asks for one
	tag       string   // part of the command line of each of its processes
	member    *member  // of a cluster; nil: a single server
	releases  []func() // free the ports that it holds

	mu     sync.Mutex
	cmd    *exec.Cmd     // nil before the first start
	exited chan struct{} // closed when cmd has ended and was waited for
	logged int64         // bytes of the log before the last start
}

// External reports whether the server was given by an environment variable. Such a server cannot
// be killed, paused, stopped or started.
func (s *Server) External() bool { return s.external }

// String names the server for messages, without its password.
func (s *Server) String() string { return string(s.Kind) + " at " + s.Addr }

// Postgres returns the PostgreSQL that the tests of this binary share.
func Postgres(t testing.TB) *Server { t.Helper(); return sharedFor(t, KindPostgres) }

// MariaDB returns the MariaDB that the tests of this binary share. For tests that should run over
// every server of MySQL's protocol, use [MySQLs].
func MariaDB(t testing.TB) *Server { t.Helper(); return sharedFor(t, KindMariaDB) }

// Redis returns the Redis that the tests of this binary share.
func Redis(t testing.TB) *Server { t.Helper(); return sharedFor(t, KindRedis) }

// Etcd returns the etcd that the tests of this binary share.
func Etcd(t testing.TB) *Server { t.Helper(); return sharedFor(t, KindEtcd) }

// NewPostgres starts a PostgreSQL for this test alone.
func NewPostgres(t testing.TB) *Server { t.Helper(); return New(t, KindPostgres) }

// NewMariaDB starts a MariaDB for this test alone.
func NewMariaDB(t testing.TB) *Server { t.Helper(); return New(t, KindMariaDB) }

// NewRedis starts a Redis for this test alone.
func NewRedis(t testing.TB) *Server { t.Helper(); return New(t, KindRedis) }

// NewEtcd starts an etcd for this test alone.
func NewEtcd(t testing.TB) *Server { t.Helper(); return New(t, KindEtcd) }

// New starts a server of a kind for this test alone. The arguments follow those of the package on
// its command line, at every start, and win over them: "-c", "fsync=on" for PostgreSQL.
func New(t testing.TB, kind Kind, arguments ...string) *Server {
	t.Helper()
	return startFor(t, engines()[kind], arguments...)
}

// External returns the server that the environment gives for kind, if any.
func External(t testing.TB, kind Kind) (*Server, bool) {
	t.Helper()
	Uncached()
	e := engines()[kind]
	dsn := os.Getenv(e.dsnVar)
	if dsn == "" {
		return nil, false
	}
	addr, err := e.address(dsn)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", e.dsnVar, err))
		return nil, false
	}
	return &Server{Kind: kind, Addr: addr, DSN: dsn, engine: e, external: true}, true
}

// MySQLs returns every server of MySQL's protocol that tests should run over: the shared MariaDB, and
// the one that SNOWKEY_TEST_MYSQL gives.
func MySQLs(t testing.TB) []*Server {
	t.Helper()
	servers := []*Server{MariaDB(t)}
	if s, ok := External(t, KindMariaDB); ok && !servers[0].External() {
		servers = append(servers, s)
	}
	return servers
}

// shared has a function for each kind that starts the server once, for all tests of this binary.
var shared sync.Map // Kind → func() (*Server, error)

func sharedFor(t testing.TB, kind Kind) *Server {
	t.Helper()
	given, ok := External(t, kind)
	if ok && kind != KindMariaDB {
		return given
	}
	skipShort(t)
	once := sync.OnceValues(func() (*Server, error) { return boot(engines()[kind], freeAddr) })
	start, _ := shared.LoadOrStore(kind, once)
	s, err := start.(func() (*Server, error))()
	if ok && errors.Is(err, errMissing) {
		return given
	}
	return started(t, s, err)
}

// startFor starts a server that ends with the test.
func startFor(t testing.TB, e *engine, arguments ...string) *Server {
	t.Helper()
	skipShort(t)
	s, err := boot(e, freeAddr, arguments...)
	if s = started(t, s, err); s != nil {
		s.removeAfter(t)
	}
	return s
}

// started ends the test if the server did not start, and logs the version that was asked for.
func started(t testing.TB, s *Server, err error) *Server {
	t.Helper()
	if err != nil {
		skipOrFail(t, err)
		return nil
	}
	if s.version != "" {
		t.Logf("%s has version %s", s, s.version)
	}
	return s
}

// removeAfter removes the server after the test, and logs the end of its log if that failed.
func (s *Server) removeAfter(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", s, s.logTail(0))
		}
		if err := s.Remove(); err != nil {
			t.Errorf("remove %s: %v", s, err)
		}
	})
}

const (
	requireVar = "SNOWKEY_TEST_REQUIRE" // a missing program fails the test instead of skipping it
	runVar     = "SNOWKEY_TEST_RUN"     // a folder of this run of ./test.sh alone
)

// Uncached keeps go test from taking the result of this test binary from an earlier run of
// ./test.sh. Tests of more than Go code call it: go test remembers which variables a test has read.
// What starts or finds a server calls it too.
func Uncached() { _ = os.Getenv(runVar) }

// skipShort skips the test under go test -short, unless SNOWKEY_TEST_REQUIRE=1.
func skipShort(t testing.TB) {
	t.Helper()
	Uncached()
	if testing.Short() && !enabled(requireVar) {
		t.Skip("starts a server, and -short starts none")
	}
}

func enabled(variable string) bool {
	v := os.Getenv(variable)
	return v != "" && v != "0"
}

// Missing skips the test, because something is not installed. With SNOWKEY_TEST_REQUIRE=1 it fails it.
func Missing(t testing.TB, what any) {
	t.Helper()
	if enabled(requireVar) {
		t.Fatal(what)
		return
	}
	t.Skipf("%v; %s=1 makes this a failure", what, requireVar)
}

// skipOrFail skips the test if err is about something not installed, else fails it.
func skipOrFail(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, errReplaced):
		t.Skipf("%v", err)
	case errors.Is(err, errMissing):
		Missing(t, err)
	default:
		t.Fatal(err)
	}
}

// Eventually asks again and again, as long as it gets an error. After the limit, that ends the test.
func Eventually(t testing.TB, limit time.Duration, ask func() error) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", limit, err)
		}
	}
}
