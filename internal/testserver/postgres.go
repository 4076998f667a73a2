package testserver

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
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
// pg_promote() makes it a primary. It gets the primary's arguments. The primary is paused while it
// is copied.
func NewStandby(t testing.TB, primary *Server) *Server {
	t.Helper()
	e := postgresEngine()
	e.found = primary.programs // whose version it must be
	e.setup = func(s *Server) error { return copyOf(primary, s) }
	return startFor(t, e, append(slices.Clone(primary.arguments), "-c", "primary_conninfo="+primary.DSN+"&application_name=standby")...)
}

// copyOf gives a standby the data of its primary. While nothing writes to the folder, a copy of it
// is what a crash leaves: the standby recovers from it, then follows. pg_basebackup needs no pause,
// but not every installation has it.
func copyOf(primary, standby *Server) error {
	if err := primary.Pause(); err != nil {
		return err
	}
	data := standby.data()
	err := errors.Join(standby.run("cp", "-R", "-p", primary.data(), data), primary.Resume())
	if err != nil {
		return err
	}
	signal := filepath.Join(data, "standby.signal")
	return errors.Join(os.Remove(filepath.Join(data, "postmaster.pid")), os.WriteFile(signal, nil, 0o600), giveToUser(signal))
}
