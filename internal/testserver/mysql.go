package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const kindMySQL Kind = "mysql"

// groupName is the name of every group: members find each other by address.
const groupName = "5e0e1ea5-0000-4000-8000-000000000000"

// A MySQLGroup is a group of MySQL servers with a single primary, behind a MySQL Router.
// A commit is acknowledged when most members have received it.
type MySQLGroup struct {
	Members []*Server
	// DSN is the Router's, which leads to the primary.
	DSN string
}

// NewMySQLGroup starts a group of n members for this test alone. The arguments override
// those of the package. Each member can be killed, paused and started by itself, as long as
// most members that the group knows run. A silent member is expelled after 5 s, the least
// that MySQL allows; its default is 10 s. Start returns when the member is online. Unlike
// those of [MariaDB], the servers flush each commit.
func NewMySQLGroup(t testing.TB, n int, arguments ...string) *MySQLGroup {
	t.Helper()
	e := mysqlEngine()
	e.command = func(s *Server) []string { return append(mysqlCommand(s), arguments...) }
	members := cluster(t, e, n, 0)
	router := startFor(t, routerEngine(members))
	return &MySQLGroup{Members: members, DSN: router.DSN}
}

// mysqlEngine is the engine of a group's members.
func mysqlEngine() *engine {
	return &engine{
		kind:       kindMySQL,
		binVar:     "SNOWKEY_TEST_MYSQL_BIN",
		packages:   "mysql-server-core and mysql-router, which tools/unpack.sh fetches",
		programs:   [][]string{{"mysqld"}, {"mysqlrouter"}, {"mysqlrouter_keyring"}},
		refuse:     refuseMariaDB,
		sequential: true,
		orderly:    syscall.SIGTERM,
		quick:      syscall.SIGKILL,
		dsn: func(addr string) string {
			return "root@tcp(" + addr + ")/" + mariadbDatabase
		},
		configure: mysqlConfigure,
		command:   mysqlCommand,
		ready:     mysqlReady,
	}
}

func refuseMariaDB(programs []string) error {
	if refuseMySQL(programs) == nil {
		return fmt.Errorf("%s is MariaDB, which has no Group Replication", programs[0])
	}
	return nil
}

// mysqlConfigure makes the data, the same for all members: one that joins needs only what
// the group has written since.
func mysqlConfigure(s *Server) error {
	var sql strings.Builder
	sql.WriteString("CREATE USER root@'%';\nGRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n")
	sql.WriteString("CREATE DATABASE " + mariadbDatabase + ";\n")
	sql.WriteString(routerMetadata(s.member.of))
	if err := os.WriteFile(filepath.Join(s.dir, "data.sql"), []byte(sql.String()), 0o644); err != nil {
		return err
	}
	// The data does not have it before the first start, and has it after that.
	start := "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery';\n"
	if err := os.WriteFile(mariadbInitFile(s), []byte(start), 0o644); err != nil {
		return err
	}
	if err := s.run(append(mysqlBase(s), "--initialize-insecure", "--init-file="+filepath.Join(s.dir, "data.sql"), "--skip-log-bin")...); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.data(), "auto.cnf"), []byte("[auto]\nserver-uuid="+serverUUID(s)+"\n"), 0o644)
}

// serverUUID is a member's UUID, which the Router needs.
func serverUUID(s *Server) string { return fmt.Sprintf("%s%012s", groupName[:24], portOf(s.Addr)) }

// mysqlArguments are those of each MySQL server, also while its data is made.
func mysqlArguments(s *Server) []string {
	return append([]string{s.programs[0], "--no-defaults",
		"--basedir=" + filepath.Join(filepath.Dir(s.programs[0]), ".."),
		"--datadir=" + s.data(),
		"--secure-file-priv=NULL", // else it requires the folder that it was built for
		"--innodb-buffer-pool-size=32M",
		"--innodb-redo-log-capacity=32M",
	}, asRoot(s)...)
}

func mysqlBase(s *Server) []string {
	return append(mysqlArguments(s),
		"--auto-generate-certs=OFF", // they take seconds
		"--caching-sha2-password-auto-generate-rsa-keys=OFF",
	)
}

func mysqlCommand(s *Server) []string {
	var seeds []string
	for _, m := range s.member.of {
		seeds = append(seeds, m.Addr)
	}
	bootstrap := "ON"
	if s.member.joins {
		bootstrap = "OFF"
	}
	return append(append(mysqlBase(s), mysqldArguments(s)...),
		"--report-host=127.0.0.1",
		"--server-id="+portOf(s.Addr),
		"--mysqlx=OFF",
		"--gtid-mode=ON",
		"--enforce-gtid-consistency=ON",
		"--relay-log=relay",
		"--binlog-expire-logs-seconds=0",
		"--plugin-load-add=group_replication.so",
		"--group-replication-group-name="+groupName,
		"--group-replication-communication-stack=MYSQL",
		"--group-replication-ssl-mode=DISABLED",
		"--group-replication-recovery-use-ssl=OFF",
		"--group-replication-recovery-get-public-key=ON",
		"--group-replication-recovery-reconnect-interval=1",
		"--group-replication-local-address="+s.Addr,
		"--group-replication-group-seeds="+strings.Join(seeds, ","),
		"--group-replication-start-on-boot=ON",
		"--group-replication-bootstrap-group="+bootstrap,
		"--group-replication-member-expel-timeout=0",
	)
}

var errNotOnline = errors.New("it is not online in its group yet")

// mysqlReady looks for the server's messages in what it has logged since this start.
func mysqlReady(s *Server) error {
	lines, err := s.ownPidFile(mariadbPidFile(s))
	if err != nil {
		return err
	}
	log, err := os.ReadFile(s.logPath())
	if err != nil {
		return err
	}
	began := bytes.LastIndex(log, []byte("starting as process "+strings.TrimSpace(lines[0])+"\n"))
	if began < 0 || !bytes.Contains(log[began:], []byte("This server was declared online within the replication group")) {
		return errNotOnline
	}
	return nil
}
