package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// inspected is what is known about the database. It is immutable: a call that learns more makes
// a new one.
type inspected struct {
	st     *statements
	tables [tables]bool // which tables exist, and survive a crash
}

func (i *inspected) has(wanted ...table) bool {
	return i != nil && !slices.ContainsFunc(wanted, func(t table) bool { return !i.tables[t] })
}

// inspectionLimit is how long an inspection may take, while others wait for it. With a distant
// database it takes longer than one call.
const inspectionLimit = 6 * time.Second

// inspect learns what is not known yet about the database: its dialect, its settings, and these
// tables, which it creates if they are missing. One caller does so at a time, and what it learns
// is remembered even if a later step fails.
func (s *Store) inspect(ctx context.Context, conn *sql.Conn, wanted []table) error {
	if s.inspected.Load().has(wanted...) {
		return nil
	}
	select {
	case s.inspecting <- struct{}{}:
		defer func() { <-s.inspecting }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, inspectionLimit)
	defer cancel()
	var now inspected
	if before := s.inspected.Load(); before != nil {
		now = *before
	} else {
		var err error
		if now.st, err = s.inspectServer(ctx, conn); err != nil {
			return err
		}
	}
	x := session{now.st, conn, s}
	restore, err := x.settle(ctx) // what was asked may have begun a transaction
	if err != nil {
		return err
	}
	defer restore()
	err = x.prepareTables(ctx, wanted, &now.tables)
	s.inspected.Store(&now)
	return err
}

// inspectServer learns what the statements depend on: the dialect, the schema, what the server shows of
// itself, and which settings it has that decide whether a commit may be lost. Their values are asked
// for by each write.
func (s *Store) inspectServer(ctx context.Context, conn *sql.Conn) (_ *statements, err error) {
	cfg, simple := s.cfg, simple(conn)
	if cfg.Dialect == Detect {
		if cfg.Dialect, err = detect(ctx, conn, simple); err != nil {
			return nil, err
		}
	}
	var server variables
	if cfg.Dialect == MySQL {
		if server, err = askMySQL(ctx, conn); err != nil {
			return nil, err
		}
	}
	if err := cfg.pin(server["database()"]); err != nil {
		return nil, err
	}
	st := cfg.statements()
	st.simple = simple
	st.mariaDB = strings.Contains(server["version"], "MariaDB")
	st.vitess = strings.Contains(server["version"], "Vitess") || strings.Contains(server["version_comment"], "Git revision")
	st.galera = st.mariaDB && server["wsrep_on"] == "ON"                       // only that has the setting to wait for other nodes in a statement
	if st.vitess && keyspace(cfg.schema()) != keyspace(server["database()"]) { // the settings of one server would be checked, and the other one written to
		return nil, fields.Error("sqlstore", "Table", cfg.Table, "is not in the keyspace %q that the connection to Vitess has selected: give the store a pool that selects the keyspace of the table", server["database()"])
	}
	st.setConditions(server)
	x := session{st, conn, s}
	switch cfg.Dialect {
	case Postgres:
		st.incarnation, err = x.findPostgres(ctx)
	case MySQL:
		st.incarnation, err = x.findMySQL(ctx, server)
	default:
		st.incarnation, err = x.findSQLite(ctx)
	}
	return st, err
}

// keyspace returns the keyspace of a target of Vitess, such as app@primary.
func keyspace(target string) string {
	name, _, _ := strings.Cut(target, "@")
	return name
}

// detect asks the database for its dialect. Only SQLite has no such function, in its own words.
func detect(ctx context.Context, conn *sql.Conn, simple []any) (Dialect, error) {
	var version string
	err := conn.QueryRowContext(ctx, "SELECT version()", simple...).Scan(&version)
	switch {
	case hasText(err, "no such function"):
		return SQLite, nil
	case err != nil:
		return "", fmt.Errorf("ask the database for its version (Config.Dialect does without): %w", err)
	case strings.HasPrefix(version, "PostgreSQL"):
		return Postgres, nil
	case version == "" || version[0] < '0' || version[0] > '9':
		return "", fields.Error("sqlstore", "Dialect", Detect, "the dialect of version %q is unknown: set Postgres, MySQL or SQLite, whichever the database is compatible with", version)
	}
	return MySQL, nil
}

// variables are those that a server of MySQL has, of the ones that matter here, and the selected
// database. A variable of a plugin exists only with the plugin.
type variables map[string]string

func askMySQL(ctx context.Context, conn *sql.Conn) (variables, error) {
	var version, comment string
	var selected sql.NullString
	if err := conn.QueryRowContext(ctx, "SELECT @@version, @@version_comment, DATABASE()").Scan(&version, &comment, &selected); err != nil {
		return nil, fmt.Errorf("ask for the server's version: %w", err)
	}
	server := variables{"version": version, "version_comment": comment, "database()": selected.String}
	for _, name := range []string{"wsrep_on", "group_replication_group_name", "server_uid"} { // sql_select_limit counts for each SHOW
		err := eachRow(ctx, conn, func(rows *sql.Rows) error {
			var value string
			err := rows.Scan(new(string), &value)
			server[name] = value
			return err
		}, "SHOW VARIABLES WHERE variable_name = '"+name+"'")
		if err != nil {
			return nil, fmt.Errorf("ask for the server's variable %s: %w", name, err)
		}
	}
	return server, nil
}
