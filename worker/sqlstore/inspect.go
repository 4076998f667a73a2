package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore/internal/rawconn"
)

// A server has what is known about the database. It is immutable.
type server struct {
	Config // with a Dialect, and a Table with its schema

	mariaDB     bool
	galera      bool  // a cluster node, which may be behind
	vitess      bool  // a proxy with its own parser
	simple      []any // see package rawconn
	incarnation incarnation
	always      []condition // of every write
	durable     []condition // additional ones, of every write of a counter
}

// has reports whether the tables are known to exist and to survive a crash.
func (s *Store) has(wanted []table) bool {
	return !slices.ContainsFunc(wanted, func(t table) bool { return !s.ready[t].Load() })
}

// inspect finds out what the statements depend on: the dialect, the schema, the incarnation, and which
// settings decide whether a commit may be lost. Each write checks the values of these settings.
func (s *Store) inspect(ctx context.Context, conn *sql.Conn) (now *server, err error) {
	now = &server{Config: s.cfg, simple: rawconn.SimpleProtocol(conn)}
	x := session{now, conn, s, false}
	if x.Dialect == Detect {
		if x.Dialect, err = x.detect(ctx); err != nil {
			return nil, err
		}
	}
	var has variables
	if x.Dialect == MySQL {
		if has, err = x.variables(ctx); err != nil {
			return nil, err
		}
	}
	if err := x.pin(has["database()"]); err != nil {
		return nil, err
	}
	if err := unsupported(has["version"]); err != nil {
		return nil, err
	}
	x.mariaDB = strings.Contains(has["version"], "MariaDB")
	x.vitess = strings.Contains(has["version"], "Vitess") || strings.Contains(has["version_comment"], "Git revision")
	x.galera = x.mariaDB && has["wsrep_on"] == "ON"                      // only MariaDB can wait for other nodes in a statement
	if x.vitess && keyspace(x.schema()) != keyspace(has["database()"]) { // the store would check one server's settings, and write to another
		return nil, fields.Error("sqlstore", "Table", x.Table, "is not in the keyspace %q that the connection to Vitess has selected: give the store a pool that selects the keyspace of the table", has["database()"])
	}
	x.setConditions(has)
	switch x.Dialect {
	case Postgres:
		x.incarnation, err = x.findPostgres(ctx)
	case MySQL:
		x.incarnation, err = x.findMySQL(ctx, has)
	default:
		x.incarnation, err = x.findSQLite(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the server's incarnation: %w", err)
	}
	return now, nil
}

// keyspace returns the keyspace of a Vitess target such as app@primary.
func keyspace(target string) string {
	name, _, _ := strings.Cut(target, "@")
	return name
}

// detect asks the database for its dialect. SQLite is recognized by its error: it has no such function.
func (x session) detect(ctx context.Context) (Dialect, error) {
	var version string
	err := x.row(ctx, "SELECT version()", &version)
	switch {
	case hasText(err, "no such function"):
		return SQLite, nil
	case err != nil:
		return "", fmt.Errorf("ask the database for its version (Config.Dialect does without): %w", err)
	}
	if err := unsupported(version); err != nil {
		return "", err
	}
	switch {
	case strings.HasPrefix(version, "PostgreSQL"):
		return Postgres, nil
	case version == "" || version[0] < '0' || version[0] > '9':
		return "", fields.Error("sqlstore", "Dialect", Detect, "the dialect of version %q is unknown: set Postgres, MySQL or SQLite, whichever the database is compatible with", version)
	}
	return MySQL, nil
}

// unsupported refuses databases that are compatible with PostgreSQL or MySQL, but are not known to change
// their incarnation when they are put back, or to have the same one in all their servers.
func unsupported(version string) error {
	for mark, name := range map[string]string{"CockroachDB": "CockroachDB", "-YB-": "YugabyteDB", "TiDB": "TiDB", "Redshift": "Redshift"} {
		if strings.Contains(version, mark) {
			return driver.Permanent(fmt.Errorf("leases cannot be kept in %s (version %q), which is not known to show when it was put back: "+
				"keep them in PostgreSQL, MySQL, Redis or etcd, for GORM with gormplugin.Config.Source; its rows can have ids all the same", name, version))
		}
	}
	return nil
}

// variables has the relevant variables of a MySQL server, and the selected database. A plugin's variable
// exists only with the plugin.
type variables map[string]string

func (x session) variables(ctx context.Context) (variables, error) {
	var version, comment string
	var selected sql.NullString
	if err := x.row(ctx, "SELECT @@version, @@version_comment, DATABASE()", &version, &comment, &selected); err != nil {
		return nil, fmt.Errorf("ask for the server's version: %w", err)
	}
	has := variables{"version": version, "version_comment": comment, "database()": selected.String}
	err := each(ctx, x.conn, func(rows *sql.Rows) error {
		var name, value string
		err := rows.Scan(&name, &value)
		has[strings.ToLower(name)] = value
		return err
	}, "SHOW VARIABLES WHERE variable_name IN ('wsrep_on', 'group_replication_group_name', 'server_uid')")
	if err != nil {
		return nil, fmt.Errorf("ask for the server's variables: %w", err)
	}
	return has, nil
}
