package testserver

import (
	"os"
	"path/filepath"
	"slices"
)

const (
	mariadbDatabase = "snowkey" // exists at every start
	mysqlBinVar     = "SNOWKEY_TEST_MYSQL_BIN"
	createDatabase  = "CREATE DATABASE IF NOT EXISTS " + mariadbDatabase + ";\n"
	// A sixth of the default: the file is allocated in full, and copied for each server.
	mariadbLog = "--innodb-log-file-size=16M"
)

func mariadbEngine() *engine {
	return &engine{
		kind:       KindMariaDB,
		dsnVar:     "SNOWKEY_TEST_MYSQL",
		binVar:     "SNOWKEY_TEST_MARIADB_BIN",
		versionVar: "SNOWKEY_TEST_MARIADB_VERSION",
		packages:   "mariadb-server-core and mariadb-client-core",
		programs:   [][]string{{"mariadbd"}, {"mariadb-install-db"}}, // mysqld may be that of MySQL
		dsn:        func(addr string) string { return "root@tcp(" + addr + ")/" + mariadbDatabase },
		port:       "3306",
		setup:      mariadbSetup,
		command:    mariadbCommand,
		// The greeting ends with the plug-in for passwords; an error packet names none.
		ready: func(s *Server) error { return ask(s.Addr, "", "_password\x00") },
	}
}

// asRoot returns the option that the server requires to run as root.
func asRoot(s *Server) []string {
	if os.Getuid() == 0 && !s.engine.unprivileged {
		return []string{"--user=root"}
	}
	return nil
}

func mariadbSetup(s *Server) error {
	if err := s.write("init.sql", createDatabase); err != nil {
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

func mariadbCommand(s *Server) []string {
	return slices.Concat([]string{s.programs[0], "--no-defaults", "--datadir=" + s.data(), "--character-set-server=utf8mb4",
		"--innodb-flush-log-at-trx-commit=2", // written, not flushed: a commit survives Kill
		"--innodb-flush-method=nosync", "--innodb-buffer-pool-size=32M", mariadbLog}, mysqldArguments(s), asRoot(s))
}

// mysqldArguments are those of a running server, MariaDB's or MySQL's. There is no socket: its path
// would soon be too long.
func mysqldArguments(s *Server) []string {
	return []string{"--pid-file=" + s.in("pid"), "--init-file=" + s.in("init.sql"), "--socket=", "--bind-address=127.0.0.1",
		"--port=" + portOf(s.Addr), "--skip-name-resolve", "--default-time-zone=+00:00", "--max-connections=300"}
}

// mysqlAloneEngine is MySQL's. It takes MariaDB's place where its folder is given: it speaks the
// same protocol, and is set up in another way.
func mysqlAloneEngine() *engine {
	e := mariadbEngine()
	e.binVar, e.versionVar, e.packages = mysqlBinVar, "SNOWKEY_TEST_MYSQL_VERSION", "mysql-server-core"
	e.programs = [][]string{{"mysqld"}}
	own := []string{"--skip-log-bin", "--innodb-flush-method=nosync"}
	e.setup = func(s *Server) error {
		// One statement a line. root@localhost does not match a client whose name is not resolved.
		err := s.write("init.sql", createDatabase+"CREATE USER IF NOT EXISTS root@'127.0.0.1';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n")
		if err != nil {
			return err
		}
		return s.makeData(slices.Concat(mysqlArguments(s), own, []string{"--initialize-insecure"})...)
	}
	e.command = func(s *Server) []string {
		return slices.Concat(mysqlArguments(s), own, mysqldArguments(s), []string{"--mysqlx=OFF", "--innodb-flush-log-at-trx-commit=2"})
	}
	return e
}

// mysqlArguments are those of each MySQL server, also while its data is made.
func mysqlArguments(s *Server) []string {
	return append([]string{s.programs[0], "--no-defaults", "--basedir=" + filepath.Join(filepath.Dir(s.programs[0]), ".."),
		"--datadir=" + s.data(), "--secure-file-priv=NULL", // else it requires the folder that it was built for
		"--innodb-buffer-pool-size=32M", "--innodb-redo-log-capacity=32M"}, asRoot(s)...)
}
