package testserver

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

func postgresEngine() *engine {
	return &engine{
		kind:         KindPostgres,
		dsnVar:       "SNOWKEY_TEST_POSTGRES",
		binVar:       "SNOWKEY_TEST_POSTGRES_BIN",
		versionVar:   "SNOWKEY_TEST_POSTGRES_VERSION",
		packages:     "postgresql",
		programs:     [][]string{{"postgres"}, {"initdb"}},
		together:     true,
		unprivileged: true,
		orderly:      syscall.SIGINT, // SIGTERM would wait for the clients
		quick:        syscall.SIGQUIT,
		dsn: func(addr string) string {
			return "postgres://postgres@" + addr + "/postgres?sslmode=disable"
		},
		address: func(dsn string) (string, error) {
			return urlAddress(dsn, "5432", "postgres", "postgresql")
		},
		setup: func(s *Server) error {
			return s.makeData(s.programs[1], "--pgdata="+s.data(), "--username=postgres",
				"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
		},
		command: postgresCommand,
		ready:   postgresReady,
		version: postgresVersion,
	}
}

func postgresCommand(s *Server) []string {
	argv := []string{s.programs[0], "-D", s.data(), "-p", portOf(s.Addr)}
	for _, c := range []string{
		"cluster_name=" + s.tag, // in the title of each child: the watchdog looks for it
		"listen_addresses=127.0.0.1",
		"unix_socket_directories=",        // none: the path would soon be too long
		"fsync=off",                       // but synchronous_commit stays on, so that a commit survives Kill
		"dynamic_shared_memory_type=mmap", // below the data, and not for ever in /dev/shm
		"shared_buffers=32MB",
		"max_connections=300",
		"deadlock_timeout=100ms", // a test that meets a deadlock waits no longer
		"timezone=UTC",
		"log_timezone=UTC",
	} {
		argv = append(argv, "-c", c)
	}
	return argv
}

func postgresReady(s *Server) error {
	lines, err := s.ownPidFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	if status := strings.TrimSpace(lines[min(7, len(lines)-1)]); status != "ready" {
		return fmt.Errorf("status %q, want ready", status)
	}
	return postgresAnswers(s.Addr)
}

func postgresAnswers(addr string) error {
	// The answer is AuthenticationOk, or an error while the server starts up.
	_, err := ask(addr, postgresStartup(), []byte("R\x00\x00\x00\x08\x00\x00\x00\x00"))
	return err
}

// postgresStartup is the first packet of a client, in protocol 3.0.
func postgresStartup() []byte {
	body := "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00"
	return append([]byte{0, 0, 0, byte(len(body) + 4)}, body...)
}

var postgresStatus = regexp.MustCompile(`server_version\x00([^ \x00]+)`)

func postgresVersion(addr string) (string, error) {
	// It comes before ReadyForQuery.
	answer, err := ask(addr, postgresStartup(), []byte("Z\x00\x00\x00\x05I"))
	if err != nil {
		return "", err
	}
	return first(postgresStatus, answer)
}
