package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore/internal/rawconn"
)

// A server has what is known about the database. It is immutable.
type server struct {
	Config            // with a Dialect, and a Table with its schema
	leasetables.Names // the same

	mariaDB bool
	// New sessions begin with autocommit off. Before its first statement, such a session of MySQL, unlike one
	// of MariaDB, tells the driver that it is on.
	autocommitOff bool
	galera        bool  // a cluster node, which may be behind
	simple        []any // see package rawconn
	incarnation   incarnation
	ofLeases      []condition // of every write of a lease
	ofCounters    []condition // of every write of a counter
}

// inspect finds out what the statements depend on: the dialect, the schema, the incarnation, and which
// settings decide whether a commit may be lost. Each write checks the values of these settings.
func (s *Store) inspect(ctx context.Context, conn *sql.Conn) (now *server, err error) {
	now = &server{Config: s.cfg, simple: rawconn.SimpleProtocol(conn)}
	x := session{server: now, conn: conn, store: s}
	version, err := x.detect(ctx)
	if err != nil {
		return nil, err
	}
	has := variables{"database()": "main"} // SQLite's
	if x.Dialect == ddl.MySQL {
		if has, err = x.variables(ctx); err != nil {
			return nil, err
		}
	}
	x.Names = x.tables(has["database()"])
	if x.Schema == "" || strings.ContainsAny(x.Schema, ".'`\"\\") {
		return nil, fields.Error("sqlstore", "Table", x.Name(leasetables.Records), "needs a database and a dot before it, such as app.snow_lease: the connection has selected %q", x.Schema)
	}
	x.Table = x.Schema + "." + x.Name(leasetables.Records)
	x.mariaDB = strings.Contains(version, "MariaDB")
	x.autocommitOff = has["autocommit"] == "OFF"
	x.galera = x.mariaDB && has["wsrep_on"] == "ON" // only MariaDB can wait for other nodes in a statement
	x.setConditions(has)
	switch x.Dialect {
	case ddl.Postgres:
		x.incarnation, err = x.findPostgres(ctx)
	case ddl.MySQL:
		x.incarnation, err = x.findMySQL(ctx, has)
	default:
		x.incarnation, err = x.findSQLite(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the server's incarnation: %w", err)
	}
	return now, nil
}

// detect asks the database for its version, and sets the Dialect if Config has none. SQLite is recognized
// by its error: it has no such function.
func (x session) detect(ctx context.Context) (version string, err error) {
	if x.Dialect == ddl.SQLite {
		return "", nil
	}
	err = x.queryRow(ctx, "SELECT version()", &version)
	switch detected := x.Dialect == ""; {
	case detected && hasText(err, "no such function"):
		x.Dialect = ddl.SQLite
		return "", nil
	case err != nil:
		if other := anotherSQL.FindString(err.Error()); other != "" {
			name := "SQL Server"
			if strings.HasPrefix(other, "ORA") {
				name = "Oracle"
			}
			err = driver.Permanent(fmt.Errorf("leases cannot be kept in %s, which speaks another SQL: %s: %w", name, elsewhere, err))
		}
		return "", fmt.Errorf("ask the database for its version: %w", err)
	case detected && strings.HasPrefix(version, "PostgreSQL"):
		x.Dialect = ddl.Postgres
	case detected && version != "" && version[0] >= '0' && version[0] <= '9':
		x.Dialect = ddl.MySQL
	}
	if err := unsupported(version); err != nil {
		return "", err
	}
	if x.Dialect == "" {
		return "", fields.Error("sqlstore", "Dialect", "", "the dialect of version %q is unknown: set postgres, mysql or sqlite, whichever the database is compatible with", version)
	}
	return version, nil
}

// unsupported refuses databases that are compatible with PostgreSQL or MySQL, but are not known to change
// their incarnation when they are put back, or to have the same one in all their servers.
func unsupported(version string) error {
	for mark, name := range map[string]string{"CockroachDB": "CockroachDB", "-YB-": "YugabyteDB", "TiDB": "TiDB", "Redshift": "Redshift", "Vitess": "Vitess", "(Git revision": "Vitess"} {
		if strings.Contains(version, mark) {
			return driver.Permanent(fmt.Errorf("leases cannot be kept in %s (version %q), which is not known to show when it was put back: %s", name, version, elsewhere))
		}
	}
	return nil
}

// anotherSQL matches the errors of SQL Server and Oracle about version().
var anotherSQL = regexp.MustCompile(`'version' is not a recognized built-in function|\bORA-\d{5}\b`)

const elsewhere = "keep them in PostgreSQL, MySQL, Redis or etcd, for GORM with gormplugin.Config.Source; its rows can have ids all the same"

// variables has the relevant variables of a MySQL server, and the selected database. A plugin's variable
// exists only with the plugin.
type variables map[string]string

func (x session) variables(ctx context.Context) (variables, error) {
	var selected sql.NullString
	var comment string
	if err := x.queryRow(ctx, "SELECT DATABASE(), @@version_comment", &selected, &comment); err != nil {
		return nil, fmt.Errorf("ask for the selected database: %w", err)
	}
	has := variables{"database()": selected.String}
	err := queryRows(ctx, x.conn, func(rows *sql.Rows) error {
		var name, value string
		err := rows.Scan(&name, &value)
		has[strings.ToLower(name)] = value
		return err
	}, "SHOW VARIABLES WHERE variable_name IN ('wsrep_on', 'group_replication_group_name', 'server_uid', 'autocommit')")
	return has, cmp.Or(err, unsupported(comment))
}
