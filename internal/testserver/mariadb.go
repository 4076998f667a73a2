package testserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// mariadbDatabase exists at every start.
const mariadbDatabase = "snowkey"

func mariadbEngine() *engine {
	return &engine{
		kind:       KindMariaDB,
		dsnVar:     "SNOWKEY_TEST_MYSQL",
		binVar:     "SNOWKEY_TEST_MARIADB_BIN",
		versionVar: "SNOWKEY_TEST_MARIADB_VERSION",
		packages:   "mariadb-server-core and mariadb-client-core",
		additional: true,
		programs:   [][]string{{"mariadbd", "mysqld"}, {"mariadb-install-db", "mysql_install_db"}},
		refuse:     refuseMySQL,
		orderly:    syscall.SIGTERM,
		quick:      syscall.SIGKILL,
		dsn: func(addr string) string {
			return "root@tcp(" + addr + ")/" + mariadbDatabase
		},
		address: mysqlAddress,
		setup:   mariadbSetup,
		command: mariadbCommand,
		ready:   mariadbReady,
		version: mariadbVersion,
	}
}

// refuseMySQL returns an error for a mysqld of MySQL: its data folder is initialised
// differently, see mysqlAloneEngine.
func refuseMySQL(programs []string) error {
	out, err := exec.Command(programs[0], "--version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --version: %w: %s", programs[0], err, tail(out))
	}
	if !strings.Contains(string(out), "MariaDB") {
		return fmt.Errorf("%s is MySQL, and only MariaDB is started", programs[0])
	}
	return nil
}

// asRoot returns the option that MariaDB requires to run as root.
func asRoot(s *Server) []string {
	if os.Getuid() == 0 && !s.engine.unprivileged {
		return []string{"--user=root"}
	}
	return nil
}

func mariadbSetup(s *Server) error {
	sql := "CREATE DATABASE IF NOT EXISTS " + mariadbDatabase + ";\n"
	if err := os.WriteFile(mariadbInitFile(s), []byte(sql), 0o644); err != nil {
		return err
	}
	argv := []string{s.programs[1], "--no-defaults", "--datadir=" + s.data(),
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", mariadbLog}
	if os.Getenv(s.engine.binVar) != "" {
		// The script knows only the place that it was built for.
		argv = append(argv, "--basedir="+filepath.Join(filepath.Dir(s.programs[0]), ".."))
	}
	return s.makeData(append(argv, asRoot(s)...)...)
}

// mariadbLog is a sixth of the default: the file is allocated in full, and copied for each server.
const mariadbLog = "--innodb-log-file-size=16M"

func mariadbCommand(s *Server) []string {
	argv := []string{s.programs[0], "--no-defaults",
		"--datadir=" + s.data(),
		"--character-set-server=utf8mb4",
		"--innodb-flush-log-at-trx-commit=2", // written, not flushed: a commit survives Kill
		"--innodb-flush-method=nosync",
		"--innodb-buffer-pool-size=32M",
		mariadbLog,
	}
	return slices.Concat(argv, mysqldArguments(s), asRoot(s))
}

// mysqldArguments are those of a running server, MariaDB's or MySQL's.
func mysqldArguments(s *Server) []string {
	return []string{
		"--pid-file=" + mariadbPidFile(s),
		"--init-file=" + mariadbInitFile(s),
		"--bind-address=127.0.0.1",
		"--port=" + portOf(s.Addr),
		"--socket=", // none: the path would soon be too long
		"--skip-name-resolve",
		"--default-time-zone=+00:00",
		"--max-connections=300",
	}
}

func mariadbPidFile(s *Server) string  { return filepath.Join(s.dir, "pid") }
func mariadbInitFile(s *Server) string { return filepath.Join(s.dir, "init.sql") }

func mariadbReady(s *Server) error {
	// The file is written after the port is bound, so the port is ours.
	if _, err := s.ownPidFile(mariadbPidFile(s)); err != nil {
		return err
	}
	_, err := mariadbVersion(s.Addr)
	return err
}

// mariadbGreeting is what the server sends first, in protocol 10. MariaDB put 5.5.5-
// before its version up to 10.11, for old clients.
var mariadbGreeting = regexp.MustCompile(`^(?s:....)\n(?:5\.5\.5-)?([^ \x00]+)`)

func mariadbVersion(addr string) (string, error) {
	// The greeting ends with the plug-in for passwords, MySQL's since 9 with another one; an
	// error packet names none.
	answer, err := ask(addr, nil, []byte("_password\x00"))
	if err != nil {
		return "", err
	}
	return first(mariadbGreeting, answer)
}

var mysqlTCP = regexp.MustCompile(`(?:^|@)tcp\(([^()]*)\)/[^/]*$`)

// mysqlAddress returns the host:port of a DSN of go-sql-driver/mysql.
func mysqlAddress(dsn string) (string, error) {
	// No part of the DSN is quoted: it is likely to hold a password.
	m := mysqlTCP.FindStringSubmatch(dsn)
	if m == nil {
		return "", errors.New("not a DSN like user:password@tcp(host:3306)/database")
	}
	host, port, err := net.SplitHostPort(m[1])
	if err != nil {
		host, port = m[1], "3306"
	}
	if host == "" || port == "" {
		return "", fmt.Errorf("no address in tcp(%s)", m[1])
	}
	return net.JoinHostPort(host, port), nil
}
