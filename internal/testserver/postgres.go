package testserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func postgresEngine() *engine {
	return &engine{
		kind:         KindPostgres,
		dsnVar:       "SNOWKEY_TEST_POSTGRES",
		binVar:       "SNOWKEY_TEST_POSTGRES_BIN",
		versionVar:   "SNOWKEY_TEST_POSTGRES_VERSION",
		packages:     "postgresql",
		programs:     [][]string{{"postgres"}, {"initdb"}},
		unprivileged: true,
		orderly:      syscall.SIGINT, // SIGTERM would wait for the clients
		quick:        syscall.SIGQUIT,
		dsn:          func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" },
		port:         "5432",
		schemes:      []string{"postgres", "postgresql"},
		setup: func(s *Server) error {
			return s.makeData(s.programs[1], "--pgdata="+s.data(), "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
		},
		command: postgresCommand,
		ready:   postgresReady,
	}
}

func postgresCommand(s *Server) []string {
	argv := []string{s.programs[0], "-D", s.data(), "-p", portOf(s.Addr)}
	for _, c := range []string{
		"cluster_name=" + s.tag,                                  // in the title of each child: the watchdog looks for it
		"listen_addresses=127.0.0.1", "unix_socket_directories=", // none: the path would soon be too long
		"fsync=off",                       // but synchronous_commit stays on, so that a commit survives Kill
		"dynamic_shared_memory_type=mmap", // below the data, and not for ever in /dev/shm
		"deadlock_timeout=100ms",          // a test that meets a deadlock waits no longer
		"shared_buffers=32MB", "max_connections=300", "timezone=UTC", "log_timezone=UTC",
	} {
		argv = append(argv, "-c", c)
	}
	return argv
}

// postgresReady sends the first packet of a client, in protocol 3.0. The answer is
// AuthenticationOk, or an error while the server starts up.
func postgresReady(s *Server) error {
	body := "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00"
	return ask(s.Addr, "\x00\x00\x00"+string(rune(len(body)+4))+body, "R\x00\x00\x00\x08\x00\x00\x00\x00")
}

// NewStandby starts, for this test alone, a hot standby of a private PostgreSQL server, named
// "standby". It is asynchronous unless the primary's synchronous_standby_names has that name.
// pg_promote() makes it a primary. It gets the primary's arguments, and these, which win. The primary
// is paused while it is copied.
func NewStandby(t testing.TB, primary *Server, arguments ...string) *Server {
	t.Helper()
	e := postgresEngine()
	e.found = primary.programs // whose version it must be
	e.setup = func(s *Server) error { return copyOf(primary, s) }
	return startFor(t, e, slices.Concat(primary.arguments, []string{"-c", "primary_conninfo=" + primary.DSN + "&application_name=standby"}, arguments)...)
}

// copyOf gives a standby the data of its primary. While nothing writes to the folder, a copy of it
// is what a crash leaves: the standby recovers from it, then follows. pg_basebackup needs no pause,
// but not every installation has it.
func copyOf(primary, standby *Server) error {
	if err := primary.Pause(); err != nil {
		return err
	}
	data := standby.data()
	if err := errors.Join(copyFolder(primary.data(), data), primary.Resume()); err != nil {
		return err
	}
	signal := filepath.Join(data, "standby.signal")
	return errors.Join(os.Remove(filepath.Join(data, "postmaster.pid")), os.WriteFile(signal, nil, 0o600), giveToUser(signal))
}

// NewPgBouncer starts, for this test alone, a PgBouncer in front of a private PostgreSQL server. It
// logs every client in as postgres, and ignores the startup parameter of JDBC and lib/pq. The settings,
// such as "pool_mode = transaction", are lines of its configuration, and win over those of the package.
func NewPgBouncer(t testing.TB, postgres *Server, settings ...string) *Server {
	t.Helper()
	e := &engine{
		kind:         "pgbouncer",
		binVar:       "SNOWKEY_TEST_PGBOUNCER_BIN",
		packages:     "pgbouncer",
		programs:     [][]string{{"pgbouncer"}},
		unprivileged: true,
		orderly:      syscall.SIGQUIT, // from 1.23 on, SIGTERM would wait for the clients
		dsn:          postgresEngine().dsn,
		command:      func(s *Server) []string { return []string{s.programs[0], s.in("pgbouncer.ini")} },
		ready:        postgresReady,
	}
	e.configure = func(s *Server) error {
		return s.write("pgbouncer.ini", fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%s user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\n"+
			"unix_socket_dir =\nauth_type = any\nmax_client_conn = 1000\n"+
			"ignore_startup_parameters = extra_float_digits\n%s\n", portOf(postgres.Addr), portOf(s.Addr), strings.Join(settings, "\n")))
	}
	return startFor(t, e)
}

// A Patroni is a cluster of PostgreSQL servers. Each runs under its own Patroni, which promotes a
// standby when the primary is gone.
type Patroni struct {
	Members []*PatroniMember
	DSN     string // it names all members, and leads to the one that accepts writes
}

// A PatroniMember is one PostgreSQL server and the Patroni that looks after it. Kill ends both, as
// a crash of the machine does. Start returns when its PostgreSQL answers, which may take until
// Patroni has made it follow the new primary.
type PatroniMember struct {
	*Server
	Port int // of its PostgreSQL
}

// A PatroniState is how Patroni sees a member.
type PatroniState struct {
	Name     string
	Role     string // "leader", "sync_standby", "replica"
	State    string // "running" or "streaming" when all is well
	Port     int    // of its PostgreSQL
	Timeline int64  // one more after each promotion
}

// NewPatroni starts a cluster of n members for this test alone, with its own etcd.
// It has synchronous_mode and synchronous_mode_strict: a commit is acknowledged when a
// standby has it, and only such a standby is promoted. A primary that crashes is replaced
// rather than restarted. If its Patroni is gone as well, that takes 20 seconds, the least
// that Patroni allows. Unlike those of [Postgres], the servers have fsync on, so that
// sqlstore does not refuse them.
func NewPatroni(t testing.TB, n int) *Patroni {
	t.Helper()
	e := patroniEngine()
	if _, _, err := e.find(); err != nil {
		skipOrFail(t, err)
		return nil
	}
	store := NewEtcd(t)
	p := &Patroni{}
	e.configure = func(s *Server) error {
		return s.writeConfig("patroni.yml", map[string]string{
			"TAG": s.tag, "NAME": filepath.Base(s.dir), "PEER": s.member.peer, "ADDR": s.Addr, "ETCD": store.Addr,
			"STANDBYS": strconv.Itoa(n - 1), "BIN": filepath.Dir(s.programs[0]), "DATA": s.data(),
		})
	}
	for _, s := range cluster(t, e, n) {
		port, err := strconv.Atoi(portOf(s.Addr))
		if err != nil {
			t.Fatal(err)
		}
		p.Members = append(p.Members, &PatroniMember{s, port})
	}
	p.DSN = e.dsn(strings.Join(addresses(p.Members[0].member.of), ",")) + "&target_session_attrs=read-write"
	return p
}

// patroniEngine is PostgreSQL's, for members of a Patroni cluster.
func patroniEngine() *engine {
	e := postgresEngine()
	e.packages = "patroni, etcd-server, postgresql, python3-etcd and python3-psycopg2"
	e.programs = [][]string{{"postgres"}, {"initdb"}, {"pg_rewind"}, {"pg_basebackup"}}
	e.setup = nil // Patroni's own
	e.orderly, e.quick = 0, 0
	e.more = func() ([]string, string) { return pick(searchPath(), [][]string{{"patroni"}}) }
	e.command = func(s *Server) []string { return []string{s.programs[len(s.programs)-1], s.in("patroni.yml")} }
	e.ready = func(s *Server) error {
		if err := ask(s.member.peer, "GET /health HTTP/1.0\r\n\r\n", " 200 OK\r\n"); err != nil {
			return err
		}
		return postgresReady(s)
	}
	return e
}

// KillPostgres kills all processes of the member's PostgreSQL. Its Patroni stays and sees
// to it that another member is promoted, and that this one follows it.
func (m *PatroniMember) KillPostgres() error {
	killed, err := killAll(func() ([]process, error) { return family(0, m.data()) })
	if err == nil && killed == 0 {
		err = errors.New("it does not run")
	}
	if err != nil {
		return fmt.Errorf("kill PostgreSQL of %s: %w", m, err)
	}
	return nil
}

// State is the cluster as the first member that answers sees it.
func (p *Patroni) State() ([]PatroniState, error) {
	var errs []error
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, m := range p.Members {
		var answer struct{ Members []PatroniState }
		resp, err := client.Get("http://" + m.member.peer + "/cluster")
		if err == nil {
			err = errors.Join(json.NewDecoder(resp.Body).Decode(&answer), resp.Body.Close())
		}
		if err == nil {
			return answer.Members, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
