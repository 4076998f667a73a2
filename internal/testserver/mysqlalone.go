package testserver

import (
	"os"
	"slices"
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
	return s.makeData(append(mysqlAloneArguments(s), "--initialize-insecure")...)
}

// mysqlAloneArguments are those that making the data needs as well.
func mysqlAloneArguments(s *Server) []string {
	return append(mysqlArguments(s), "--skip-log-bin", "--innodb-flush-method=nosync")
}

func mysqlAloneCommand(s *Server) []string {
	return slices.Concat(mysqlAloneArguments(s), mysqldArguments(s), []string{
		"--mysqlx=OFF",
		"--innodb-flush-log-at-trx-commit=2", // written, not flushed: a commit survives Kill
	})
}
