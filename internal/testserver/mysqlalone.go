package testserver

import (
	"os"
	"path/filepath"
)

// mysqlAloneEngine is MySQL's. It takes MariaDB's place where its folder is given: it speaks
// the same protocol, and is set up in another way.
func mysqlAloneEngine() *engine {
	e := mariadbEngine()
	e.binVar, e.versionVar = mysqlBinVar, "SNOWKEY_TEST_MYSQL_VERSION"
	e.packages = "mysql-server-core"
	e.programs = [][]string{{"mysqld"}}
	e.refuse = nil
	e.setup, e.command = mysqlAloneSetup, mysqlAloneCommand
	return e
}

const mysqlBinVar = "SNOWKEY_TEST_MYSQL_BIN"

func mysqlAloneSetup(s *Server) error {
	// One statement a line. root@localhost does not match a client whose name is not resolved.
	sql := "CREATE DATABASE IF NOT EXISTS " + mariadbDatabase + ";\n" +
		"CREATE USER IF NOT EXISTS root@'127.0.0.1';\n" +
		"GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n"
	if err := os.WriteFile(mariadbInitFile(s), []byte(sql), 0o644); err != nil {
		return err
	}
	return s.run(append(mysqlAloneArguments(s), "--initialize-insecure")...)
}

// mysqlAloneArguments are those that making the data needs as well.
func mysqlAloneArguments(s *Server) []string {
	return append([]string{s.programs[0], "--no-defaults",
		"--datadir=" + filepath.Join(s.dir, "data"),
		"--basedir=" + filepath.Join(filepath.Dir(s.programs[0]), ".."),
		"--secure-file-priv=NULL", // else it requires the folder that it was built for
		"--skip-log-bin",
		"--innodb-flush-method=nosync",
		"--innodb-buffer-pool-size=32M",
		"--innodb-redo-log-capacity=16M",
	}, asRoot(s)...)
}

func mysqlAloneCommand(s *Server) []string {
	return append(mysqlAloneArguments(s),
		"--pid-file="+mariadbPidFile(s),
		"--init-file="+mariadbInitFile(s),
		"--bind-address=127.0.0.1",
		"--port="+portOf(s.Addr),
		"--socket=", // none: the path would soon be too long
		"--mysqlx=OFF",
		"--skip-name-resolve",
		"--default-time-zone=+00:00",
		"--innodb-flush-log-at-trx-commit=2", // written, not flushed: a commit survives Kill
		"--max-connections=300",
	)
}
