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

// groupName is the name of every group: members find each other by address.
const groupName = "5e0e1ea5-0000-4000-8000-000000000000"

// A MySQLGroup is a group of MySQL servers with a single primary, behind a MySQL Router. A commit
// is acknowledged when most members have received it.
type MySQLGroup struct {
	Members []*Server
	// DSN is the Router's, which leads to the primary.
	DSN string
}

// NewMySQLGroup starts a group of n members for this test alone. The arguments override those of
// the package. Each member can be killed, paused and started by itself, as long as most members
// that the group knows run. A silent member is expelled after 5 s, the least that MySQL allows; its
// default is 10 s. Start returns when the member is online. Unlike those of [MariaDB], the servers
// flush each commit.
func NewMySQLGroup(t testing.TB, n int, arguments ...string) *MySQLGroup {
	t.Helper()
	e := mysqlEngine()
	e.configure, e.ready = groupConfigure, groupReady
	e.command = func(s *Server) []string { return append(groupCommand(s), arguments...) }
	members := cluster(t, e, n, 0)
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

func groupBase(s *Server) []string {
	return append(mysqlArguments(s),
		"--auto-generate-certs=OFF", // they take seconds
		"--caching-sha2-password-auto-generate-rsa-keys=OFF",
	)
}

func groupCommand(s *Server) []string {
	var seeds []string
	for _, m := range s.member.of {
		seeds = append(seeds, m.Addr)
	}
	bootstrap := "ON"
	if s.member.joins {
		bootstrap = "OFF"
	}
	return slices.Concat(groupBase(s), mysqldArguments(s), strings.Fields(`--mysqlx=OFF --report-host=127.0.0.1
		--gtid-mode=ON --enforce-gtid-consistency=ON --relay-log=relay --binlog-expire-logs-seconds=0
		--plugin-load-add=group_replication.so --group-replication-start-on-boot=ON
		--group-replication-communication-stack=MYSQL --group-replication-ssl-mode=DISABLED
		--group-replication-recovery-use-ssl=OFF --group-replication-recovery-get-public-key=ON
		--group-replication-recovery-reconnect-interval=1 --group-replication-member-expel-timeout=0`), []string{
		"--server-id=" + portOf(s.Addr), "--group-replication-local-address=" + s.Addr, "--group-replication-group-name=" + groupName,
		"--group-replication-group-seeds=" + strings.Join(seeds, ","), "--group-replication-bootstrap-group=" + bootstrap,
	})
}

// groupReady looks for the server's message in what it has logged since this start.
func groupReady(s *Server) error {
	return s.says("This server was declared online within the replication group")
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
	var servers []string
	for _, m := range members {
		servers = append(servers, `"mysql://`+m.Addr+`"`)
	}
	plugins := "" // where it was built for
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(s.programs[1]), "../lib*/mysqlrouter/plugin")); len(found) > 0 {
		plugins = "plugin_folder=" + found[0]
	}
	err := errors.Join(s.writeConfig("router.conf", map[string]string{"PLUGINS": plugins}),
		s.write("router.json", `{"version": "1.0.0", "metadata-cache": {"group-replication-id": "`+groupName+`", "cluster-metadata-servers": [`+strings.Join(servers, ", ")+`]}}`))
	if err != nil {
		return err
	}
	key := "--master-key-file=" + s.in("key")
	if err := s.run(s.programs[2], "init", s.in("keyring"), key); err != nil {
		return err
	}
	return s.run(s.programs[2], "set", s.in("keyring"), "root", "password", "", key)
}
