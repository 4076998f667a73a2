package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// durable refuses settings under which a committed write may be lost. One that
// the database does not show is passed over.
func (s *Store) durable(ctx context.Context, cfg Config) error {
	schema := "main"
	if cfg.schema() != "" {
		schema = cfg.schema()
	}
	type check struct {
		setting, query string
		bad            []string
		want           string
	}
	for _, c := range map[Dialect][]check{
		Postgres: {
			{"synchronous_commit", "SELECT current_setting('synchronous_commit')", []string{"off"}, "on"},
			{"fsync", "SELECT current_setting('fsync')", []string{"off"}, "on"},
		},
		MySQL: {
			{"innodb_flush_log_at_trx_commit", "SELECT @@innodb_flush_log_at_trx_commit", []string{"0", "2", "3"}, "1"},
			{"wsrep_on", "SELECT CASE WHEN @@wsrep_on = 0 AND @@wsrep_provider NOT IN ('', 'none') THEN 'OFF' ELSE 'ON' END", []string{"OFF"}, "ON"},
			{"sync_binlog", "SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END", []string{"not 1"}, "1"},
		},
		SQLite: {
			{"journal_mode", "PRAGMA \"" + schema + "\".journal_mode", []string{"memory", "off"}, "wal or delete, for a database in a file"},
			{"synchronous", "PRAGMA \"" + schema + "\".synchronous", []string{"0", "1"}, "FULL"},
		},
	}[cfg.Dialect] {
		var value string
		shown, err := s.setting(ctx, cfg.Dialect, c.query, &value)
		if err != nil {
			return fmt.Errorf("sqlstore: ask for the setting %s: %w", c.setting, err)
		}
		if shown && slices.Contains(c.bad, value) {
			return &worker.LossyError{Setting: c.setting, Value: value, Want: c.want}
		}
	}
	if cfg.Dialect == SQLite {
		return s.inFile(ctx, schema)
	}
	return nil
}

// setting reads what a query about a setting answers with. It is not shown where the
// query fails, twice, and the same connection answers another one behind it: else the
// connection may have been lost, and what it would have told is not known. SQLite has
// nothing to hide; but a schema that is not there has no settings.
func (s *Store) setting(ctx context.Context, d Dialect, query string, into any) (shown bool, err error) {
	const most = 4
	refused := 0
	for range most {
		var answers bool
		if answers, err = s.ask(ctx, query, into); err == nil {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if answers && (d != SQLite || errors.Is(err, sql.ErrNoRows)) {
			if refused++; refused == 2 {
				return false, nil
			}
		}
	}
	return false, err
}

// ask runs a query of one value; when it fails, answers tells whether the connection is
// there still.
func (s *Store) ask(ctx context.Context, query string, into any) (answers bool, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	if err = conn.QueryRowContext(ctx, query).Scan(into); err == nil {
		return true, nil
	}
	var one int
	return conn.QueryRowContext(ctx, "SELECT 1").Scan(&one) == nil, err
}

// inFile refuses a database of SQLite that has no file, or one without a name that
// is removed with the connection.
func (s *Store) inFile(ctx context.Context, schema string) error {
	databases, err := s.db.QueryContext(ctx, "PRAGMA database_list")
	if err != nil {
		return fmt.Errorf("sqlstore: ask for the database's file: %w", err)
	}
	defer databases.Close()
	for databases.Next() {
		var number int
		var name string
		var file sql.NullString
		if err := databases.Scan(&number, &name, &file); err != nil {
			return fmt.Errorf("sqlstore: ask for the database's file: %w", err)
		}
		if strings.EqualFold(name, schema) && file.String == "" {
			return &worker.LossyError{Setting: "file", Value: `""`, Want: "the path of a file"}
		}
	}
	if err := databases.Err(); err != nil {
		return fmt.Errorf("sqlstore: ask for the database's file: %w", err)
	}
	return nil
}

// kept refuses a table that only this session sees, and, unless that is allowed, one that
// a crash of the server may empty, whatever the server's settings are.
func (s *Store) kept(ctx context.Context, cfg Config, suffix string) error {
	switch table := cfg.table(suffix); cfg.Dialect {
	case Postgres:
		return s.logged(ctx, table, cfg.AllowLossy)
	case MySQL:
		if err := s.shownBy(ctx, cfg, suffix, "SHOW CREATE TABLE "+table, 1, "CREATE TEMPORARY"); err != nil || cfg.AllowLossy {
			return err
		}
		return s.inInnoDB(ctx, cfg, suffix)
	default:
		if cfg.schema() != "" {
			return nil
		}
		return s.shownBy(ctx, cfg, suffix, "SELECT name FROM sqlite_temp_master WHERE lower(name) = lower('"+cfg.name(suffix)+"')", 0, "")
	}
}

// logged looks at a table of PostgreSQL and at all its partitions.
func (s *Store) logged(ctx context.Context, table string, allowed bool) error {
	var name, persistence string
	err := s.db.QueryRowContext(ctx, "WITH RECURSIVE tree (oid) AS (SELECT CAST(to_regclass('"+table+"') AS oid) UNION "+
		"SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON i.inhparent = t.oid) "+
		"SELECT CAST(CAST(c.oid AS regclass) AS TEXT), CAST(c.relpersistence AS TEXT) FROM pg_catalog.pg_class c JOIN tree t ON c.oid = t.oid "+
		"ORDER BY CASE c.relpersistence WHEN 't' THEN 0 WHEN 'p' THEN 2 ELSE 1 END LIMIT 1").Scan(&name, &persistence)
	switch {
	case err != nil:
		return fmt.Errorf("sqlstore: ask whether the table %s is logged: %w", table, err)
	case persistence == "t":
		return temporary(name)
	case persistence != "p" && !allowed:
		return &worker.LossyError{Setting: "relpersistence of the table " + name, Value: persistence, Want: "p, a table that is logged"}
	}
	return nil
}

// temporary is the error for a table that takes the name of one which all see. Duplicates
// would come of it without any crash.
func temporary(table string) error {
	return &worker.ConfigError{Faults: []core.Fault{{Field: "Table", Value: table, Reason: "is a temporary table in this session, which others do not see: drop it, or give the store a pool of its own"}}}
}

// shownBy refuses a table for which the query's answer begins so in this column. MySQL
// tells of temporary tables in this way only.
func (s *Store) shownBy(ctx context.Context, cfg Config, suffix, query string, column int, begin string) error {
	table, found := cfg.table(suffix), false
	err := s.alone(ctx, cfg.Dialect, func(q querier) error {
		rows, err := q.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		texts := make([]sql.NullString, len(columns)) // a view has more
		into := make([]any, len(columns))
		for i := range texts {
			into[i] = &texts[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			found = found || strings.HasPrefix(texts[column].String, begin)
		}
		return rows.Err()
	})
	switch {
	case err != nil:
		return fmt.Errorf("sqlstore: ask whether the table %s is temporary: %w", table, err)
	case found:
		return temporary(table)
	}
	return nil
}

// inInnoDB refuses other engines of MySQL.
func (s *Store) inInnoDB(ctx context.Context, cfg Config, suffix string) error {
	engine := ""
	err := s.alone(ctx, cfg.Dialect, func(q querier) error {
		rows, err := q.QueryContext(ctx, "SELECT COALESCE(engine, '') FROM information_schema.tables WHERE table_schema = "+cfg.quotedSchema()+" AND table_name = '"+cfg.name(suffix)+"'")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() && (engine == "" || engine == "InnoDB") { // names that differ in case may be two
			if err := rows.Scan(&engine); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		return fmt.Errorf("sqlstore: ask for the engine of the table %s: %w", cfg.table(suffix), err)
	}
	if !strings.EqualFold(engine, "InnoDB") {
		return &worker.LossyError{Setting: "engine of the table " + cfg.table(suffix), Value: fmt.Sprintf("%q", engine), Want: "InnoDB"}
	}
	return nil
}
