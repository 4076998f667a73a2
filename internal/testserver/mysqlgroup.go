package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
		refuses:  "MariaDB", // which has no Group Replication
		orderly:  syscall.SIGTERM,
		quick:    syscall.SIGKILL,
		dsn:      mariadbEngine().dsn,
	}
}

// groupConfigure makes the data, the same for all members: one that joins needs only what the group
// has written since.
func groupConfigure(s *Server) error {
	data := "CREATE USER root@'%';\nGRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n" + createDatabase + routerMetadata(s.member.of)
	// The data does not have it before the first start, and has it after that.
	start := "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery';\n"
	if err := errors.Join(s.write("data.sql", data), s.write("init.sql", start)); err != nil {
		return err
	}
	if err := s.run(append(groupBase(s), "--initialize-insecure", "--init-file="+s.in("data.sql"), "--skip-log-bin")...); err != nil {
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
	state := `{"version": "1.0.0", "metadata-cache": {"group-replication-id": "` + groupName + `", "cluster-metadata-servers": [` + strings.Join(servers, ", ") + `]}}`
	config := strings.NewReplacer("DIR", s.dir, "DATABASE", mariadbDatabase).Replace(`[DEFAULT]
logging_folder=
runtime_folder=DIR
data_folder=DIR
dynamic_state=DIR/state.json
keyring_path=DIR/keyring
master_key_path=DIR/key
connect_timeout=2
read_timeout=5
client_ssl_mode=DISABLED
server_ssl_mode=DISABLED
PLUGINS
[logger]
level=INFO
[metadata_cache:group]
cluster_type=gr
router_id=1
user=root
ttl=0.5
ssl_mode=DISABLED
[routing:primary]
bind_address=127.0.0.1
protocol=classic
destinations=metadata-cache://DATABASE/?role=PRIMARY
routing_strategy=first-available
max_connect_errors=4294967295
`) // a client that gives up is not to be shut out
	plugins, err := filepath.Glob(filepath.Join(filepath.Dir(s.programs[1]), "../lib*/mysqlrouter/plugin"))
	if err == nil && len(plugins) > 0 { // else where it was built for
		config = strings.Replace(config, "PLUGINS", "plugin_folder="+plugins[0], 1)
	}
	config = strings.Replace(config, "PLUGINS\n", "", 1)
	if err := errors.Join(s.write("state.json", state), s.write("router.conf", config)); err != nil {
		return err
	}
	key := "--master-key-file=" + s.in("key")
	if err := s.run(s.programs[2], "init", s.in("keyring"), key); err != nil {
		return err
	}
	return s.run(s.programs[2], "set", s.in("keyring"), "root", "password", "", key)
}

// routerMetadata is what the Router reads from the members. It does not name the primary.
func routerMetadata(members []*Server) string {
	var instances []string
	for i, m := range members {
		instances = append(instances, fmt.Sprintf("(%d, '%s', '%s')", i, serverUUID(m), m.Addr))
	}
	return strings.NewReplacer(
		"VIEW", "SQL SECURITY INVOKER VIEW", "CLUSTER", "'1' AS cluster_id, '"+mariadbDatabase+"' AS cluster_name",
		"GROUP", groupName, "INSTANCES", strings.Join(instances, ", "),
	).Replace(`CREATE DATABASE mysql_innodb_cluster_metadata;
USE mysql_innodb_cluster_metadata;
CREATE VIEW schema_version AS SELECT 2 AS major, 0 AS minor, 0 AS patch;
CREATE VIEW v2_clusters AS SELECT CLUSTER, CAST('{}' AS JSON) AS router_options;
CREATE VIEW v2_gr_clusters AS SELECT CLUSTER, 'GROUP' AS group_name;
CREATE VIEW v2_this_instance AS SELECT CLUSTER, 'gr' AS cluster_type;
CREATE TABLE instances (id INT PRIMARY KEY, uuid CHAR(36), address VARCHAR(100));
INSERT INTO instances VALUES INSTANCES;
CREATE VIEW v2_instances AS SELECT id AS instance_id, '1' AS cluster_id, uuid AS mysql_server_uuid, address, address AS endpoint, address AS label, '' AS xendpoint, CAST('{}' AS JSON) AS attributes FROM instances;
CREATE TABLE v2_routers (router_id INT PRIMARY KEY, cluster_id CHAR(1), router_name TEXT, product_name TEXT, address TEXT, version TEXT, last_check_in DATETIME, attributes JSON, options JSON);
INSERT INTO v2_routers (router_id, cluster_id) VALUES (1, '1');
`)
}
