package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

// mysqldArguments has the arguments of a running server, MariaDB's or MySQL's. There is no socket: its path
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

// mysqlArguments has the arguments of each MySQL server, also while its data is made.
func mysqlArguments(s *Server) []string {
	return append([]string{s.programs[0], "--no-defaults", "--basedir=" + filepath.Join(filepath.Dir(s.programs[0]), ".."),
		"--datadir=" + s.data(), "--secure-file-priv=NULL", // else it requires the folder that it was built for
		"--innodb-buffer-pool-size=32M", "--innodb-redo-log-capacity=32M"}, asRoot(s)...)
}

// galeraEngine is MariaDB's, for members of a Galera cluster.
func galeraEngine() *engine {
	e := mariadbEngine()
	e.packages = "mariadb-server, which needs galera-4 and rsync"
	e.unprivileged = true // rsync run by root would write as another user, without permission
	e.command = galeraCommand
	e.more = func() ([]string, string) {
		if _, missing := pick(searchPath(), [][]string{{"wsrep_sst_rsync"}, {"rsync"}}); missing != "" {
			return nil, missing
		}
		for _, pattern := range []string{"/usr/lib/galera*", "/usr/lib64/galera*", "/usr/lib/*/galera*"} {
			if found, _ := filepath.Glob(pattern + "/libgalera_smm.so"); len(found) > 0 {
				return found[len(found)-1:], ""
			}
		}
		return nil, "Galera's library libgalera_smm.so not found"
	}
	return e
}

func galeraCommand(s *Server) []string {
	var all []string
	for _, m := range s.member.of {
		all = append(all, m.member.peer)
	}
	transfer, _ := freeAddr() // scripts check that these two are free; an error shows at the start
	increments, _ := freeAddr()
	argv := append(mariadbCommand(s),
		"--innodb-flush-log-at-trx-commit=1", // as the stores want it; nothing is flushed all the same
		"--binlog-format=ROW",
		"--innodb-autoinc-lock-mode=2",
		"--wsrep-on=ON",
		"--wsrep-provider="+s.programs[len(s.programs)-1],
		"--wsrep-cluster-name="+s.tag,
		"--wsrep-cluster-address=gcomm://"+strings.Join(all, ","),
		"--wsrep-node-name="+filepath.Base(s.dir),
		"--wsrep-node-address="+s.member.peer,
		"--wsrep-sst-method=rsync",
		"--wsrep-sst-receive-address="+transfer,
		"--wsrep-provider-options="+strings.Join([]string{
			"gmcast.listen_addr=tcp://" + s.member.peer,
			"ist.recv_addr=" + increments, "ist.recv_bind=" + increments,
			"evs.keepalive_period=PT0.5S", "evs.inactive_check_period=PT0.5S",
			"evs.suspect_timeout=PT2S", "evs.inactive_timeout=PT5S", "evs.install_timeout=PT5S",
			"gcache.size=16M", "pc.recovery=false",
		}, ";"),
	)
	if !s.member.joins {
		argv = append(argv, "--wsrep-new-cluster")
	}
	return argv
}

// groupName is the name of every group: members find each other by address.
const groupName = "5e0e1ea5-0000-4000-8000-000000000000"

// A MySQLGroup is a group of MySQL servers with a single primary, behind a MySQL Router. A commit
// is acknowledged when most members have received it.
type MySQLGroup struct {
	Members []*Server
	DSN     string // the Router's, which leads to the primary
}

// NewMySQLGroup starts a group of n members for this test alone. The arguments override those of
// the package. Each member can be killed, paused and started by itself, as long as most members
// that the group knows run. A silent member is expelled after 5 s, the least that MySQL allows; its
// default is 10 s. Start returns when the member is online. Unlike those of [MariaDB], the servers
// flush each commit.
func NewMySQLGroup(t testing.TB, n int, arguments ...string) *MySQLGroup {
	t.Helper()
	e := mysqlEngine()
	e.configure = groupConfigure
	e.ready = func(s *Server) error { return s.says("This server was declared online within the replication group") }
	e.command = func(s *Server) []string { return append(groupCommand(s), arguments...) }
	members := cluster(t, e, n)
	return &MySQLGroup{Members: members, DSN: startFor(t, routerEngine(members)).DSN}
}

// mysqlEngine is the engine of a group's members and of their Router.
func mysqlEngine() *engine {
	return &engine{
		kind:     "mysql",
		binVar:   mysqlBinVar,
		packages: "mysql-server-core and mysql-router, which tools/unpack.sh fetches",
		programs: [][]string{{"mysqld"}, {"mysqlrouter"}, {"mysqlrouter_keyring"}},
		dsn:      mariadbEngine().dsn,
	}
}

// groupConfigure makes the data, the same for all members: one that joins needs only what the group
// has written since.
func groupConfigure(s *Server) error {
	var instances []string
	for i, m := range s.member.of {
		instances = append(instances, fmt.Sprintf("(%d, '%s', '%s')", i, serverUUID(m), m.Addr))
	}
	// The Router reads this. It does not name the primary.
	err := errors.Join(s.writeConfig("router.sql", map[string]string{"GROUP": groupName, "INSTANCES": strings.Join(instances, ", ")}),
		// The data does not have it before the first start, and has it after that.
		s.write("init.sql", "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery';\n"))
	if err != nil {
		return err
	}
	if err := s.run(append(groupBase(s), "--initialize-insecure", "--init-file="+s.in("router.sql"), "--skip-log-bin")...); err != nil {
		return err
	}
	return s.write("data/auto.cnf", "[auto]\nserver-uuid="+serverUUID(s)+"\n")
}

// serverUUID is a member's UUID, which the Router needs.
func serverUUID(s *Server) string { return fmt.Sprintf("%s%012s", groupName[:24], portOf(s.Addr)) }

func groupBase(s *Server) []string { // certificates take seconds
	return append(mysqlArguments(s), "--auto-generate-certs=OFF", "--caching-sha2-password-auto-generate-rsa-keys=OFF")
}

func groupCommand(s *Server) []string {
	bootstrap := map[bool]string{true: "OFF", false: "ON"}[s.member.joins]
	return slices.Concat(groupBase(s), mysqldArguments(s), strings.Fields(`--mysqlx=OFF --report-host=127.0.0.1
		--gtid-mode=ON --enforce-gtid-consistency=ON --relay-log=relay --binlog-expire-logs-seconds=0
		--plugin-load-add=group_replication.so --group-replication-start-on-boot=ON
		--group-replication-communication-stack=MYSQL --group-replication-ssl-mode=DISABLED
		--group-replication-recovery-use-ssl=OFF --group-replication-recovery-get-public-key=ON
		--group-replication-recovery-reconnect-interval=1 --group-replication-member-expel-timeout=0`), []string{
		"--server-id=" + portOf(s.Addr), "--group-replication-local-address=" + s.Addr, "--group-replication-group-name=" + groupName,
		"--group-replication-group-seeds=" + strings.Join(addresses(s.member.of), ","), "--group-replication-bootstrap-group=" + bootstrap,
	})
}

// says returns an error unless the server has logged a text since its start.
func (s *Server) says(text string) error {
	log, err := os.ReadFile(s.logPath())
	if err == nil && !bytes.Contains(log[s.logged:], []byte(text)) {
		err = fmt.Errorf("it does not log %q", text)
	}
	return err
}

// routerEngine is the engine of a MySQL Router in front of a group. It follows the primary by files
// and tables that MySQL Shell usually makes. There is no package of MySQL Shell, so they are made
// here.
func routerEngine(members []*Server) *engine {
	e := mysqlEngine()
	e.kind = "mysqlrouter"
	e.setup = func(s *Server) error { return routerSetup(s, members) }
	e.command = func(s *Server) []string {
		return []string{s.programs[1], "--config=" + s.in("router.conf"), "--routing:primary.bind_port=" + portOf(s.Addr)}
	}
	e.ready = func(s *Server) error {
		// It listens, and greets, before it knows the primary.
		if err := s.says(" - mode=RW"); err != nil {
			return err
		}
		return ask(s.Addr, "", "caching_sha2_password")
	}
	return e
}

// routerSetup writes the Router's configuration, the servers that it asks first, and its password,
// which is empty but must still be stored encrypted.
func routerSetup(s *Server, members []*Server) error {
	plugins := "" // where it was built for
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(s.programs[1]), "../lib*/mysqlrouter/plugin")); len(found) > 0 {
		plugins = "plugin_folder=" + found[0]
	}
	err := errors.Join(s.writeConfig("router.conf", map[string]string{"PLUGINS": plugins}),
		s.write("router.json", `{"version": "1.0.0", "metadata-cache": {"group-replication-id": "`+groupName+`", "cluster-metadata-servers": ["mysql://`+strings.Join(addresses(members), `", "mysql://`)+`"]}}`))
	if err != nil {
		return err
	}
	key := "--master-key-file=" + s.in("key")
	if err := s.run(s.programs[2], "init", s.in("keyring"), key); err != nil {
		return err
	}
	return s.run(s.programs[2], "set", s.in("keyring"), "root", "password", "", key)
}

// NewTiDB starts, for this test alone, one server of TiDB, with the storage that TiDB has for its tests.
func NewTiDB(t testing.TB) *Server {
	t.Helper()
	return startFor(t, &engine{
		kind:     "tidb",
		binVar:   "SNOWKEY_TEST_TIDB_BIN",
		packages: "of TiDB, of which there are none: tools/tidb.sh builds it",
		programs: [][]string{{"tidb-server"}},
		dsn:      func(addr string) string { return "root@tcp(" + addr + ")/test" },
		command: func(s *Server) []string {
			return []string{s.programs[0], "-host=127.0.0.1", "-P=" + portOf(s.Addr), "-report-status=false", "-socket=",
				"-store=unistore", "-path=" + s.data(), "-temp-dir=" + s.in("temp"), "-L=error"}
		},
		ready: func(s *Server) error { return ask(s.Addr, "", "_password\x00") },
	})
}
