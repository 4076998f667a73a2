package testserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const kindRouter Kind = "mysqlrouter"

// routerEngine is the engine of a MySQL Router in front of a group. It follows the primary by
// files and tables that MySQL Shell usually makes. There is no package of MySQL Shell, so they
// are made here.
func routerEngine(members []*Server) *engine {
	e := mysqlEngine()
	e.kind, e.sequential, e.configure = kindRouter, false, nil
	e.setup = func(s *Server) error { return routerSetup(s, members) }
	e.command = func(s *Server) []string {
		return []string{s.programs[1], "--config=" + filepath.Join(s.dir, "router.conf"), "--routing:primary.bind_port=" + portOf(s.Addr)}
	}
	e.ready = func(s *Server) error {
		// It listens, and greets, before it knows the primary.
		if log, err := os.ReadFile(s.logPath()); err != nil || !bytes.Contains(log, []byte(" - mode=RW")) {
			return cmp.Or(err, errNoPrimary)
		}
		_, err := ask(s.Addr, nil, []byte("caching_sha2_password"))
		return err
	}
	return e
}

var errNoPrimary = errors.New("it has found no primary yet")

// routerSetup writes the Router's configuration, the servers that it asks first, and its
// password, which is empty but must still be stored encrypted.
func routerSetup(s *Server, members []*Server) error {
	var servers []string
	for _, m := range members {
		servers = append(servers, "mysql://"+m.Addr)
	}
	state, err := json.Marshal(map[string]any{
		"version":        "1.0.0",
		"metadata-cache": map[string]any{"group-replication-id": groupName, "cluster-metadata-servers": servers},
	})
	if err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(s.dir, name) }
	if err := os.WriteFile(in("state.json"), state, 0o644); err != nil {
		return err
	}
	config := []string{
		"[DEFAULT]",
		"logging_folder=", // to its output
		"runtime_folder=" + s.dir,
		"data_folder=" + s.dir,
		"dynamic_state=" + in("state.json"),
		"keyring_path=" + in("keyring"),
		"master_key_path=" + in("key"),
		"connect_timeout=2",
		"read_timeout=5",
		"client_ssl_mode=DISABLED",
		"server_ssl_mode=DISABLED",
	}
	plugins, err := filepath.Glob(filepath.Join(filepath.Dir(s.programs[1]), "../lib*/mysqlrouter/plugin"))
	if err == nil && len(plugins) > 0 { // else where it was built for
		config = append(config, "plugin_folder="+plugins[0])
	}
	config = append(config,
		"[logger]",
		"level=INFO",
		"[metadata_cache:group]",
		"cluster_type=gr",
		"router_id=1",
		"user=root",
		"ttl=0.5", // the default, how often it asks for the primary
		"ssl_mode=DISABLED",
		"[routing:primary]",
		"bind_address=127.0.0.1",
		"protocol=classic",
		"destinations=metadata-cache://"+mariadbDatabase+"/?role=PRIMARY",
		"routing_strategy=first-available",
		"max_connect_errors=4294967295", // a client that gives up is not to be shut out
	)
	if err := os.WriteFile(in("router.conf"), []byte(strings.Join(config, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	key := "--master-key-file=" + in("key")
	if err := s.run(s.programs[2], "init", in("keyring"), key); err != nil {
		return err
	}
	return s.run(s.programs[2], "set", in("keyring"), "root", "password", "", key)
}

// routerMetadata is what the Router reads from the members. It does not name the primary.
func routerMetadata(members []*Server) string {
	const cluster = "'1' AS cluster_id, '" + mariadbDatabase + "' AS cluster_name"
	var instances []string
	for i, m := range members {
		instances = append(instances, fmt.Sprintf("(%d, '%s', '%s')", i, serverUUID(m), m.Addr))
	}
	return strings.Join([]string{
		"CREATE DATABASE mysql_innodb_cluster_metadata",
		"USE mysql_innodb_cluster_metadata",
		"CREATE SQL SECURITY INVOKER VIEW schema_version AS SELECT 2 AS major, 0 AS minor, 0 AS patch",
		"CREATE SQL SECURITY INVOKER VIEW v2_clusters AS SELECT " + cluster + ", CAST('{}' AS JSON) AS router_options",
		"CREATE SQL SECURITY INVOKER VIEW v2_gr_clusters AS SELECT " + cluster + ", '" + groupName + "' AS group_name",
		"CREATE SQL SECURITY INVOKER VIEW v2_this_instance AS SELECT " + cluster + ", 'gr' AS cluster_type",
		"CREATE TABLE instances (id INT PRIMARY KEY, uuid CHAR(36), address VARCHAR(100))",
		"INSERT INTO instances VALUES " + strings.Join(instances, ", "),
		"CREATE SQL SECURITY INVOKER VIEW v2_instances AS SELECT id AS instance_id, '1' AS cluster_id, uuid AS mysql_server_uuid," +
			" address, address AS endpoint, address AS label, '' AS xendpoint, CAST('{}' AS JSON) AS attributes FROM instances",
		"CREATE TABLE v2_routers (router_id INT PRIMARY KEY, cluster_id CHAR(1), router_name TEXT, product_name TEXT, address TEXT," +
			" version TEXT, last_check_in DATETIME, attributes JSON, options JSON)",
		"INSERT INTO v2_routers (router_id, cluster_id) VALUES (1, '1')",
	}, ";\n") + ";\n"
}
