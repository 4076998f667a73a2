package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// durable refuses settings under which a committed write may be lost. One that
// may not be seen is passed over.
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
			{"sync_binlog", "SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END", []string{"not 1"}, "1"},
		},
		SQLite: {
			{"journal_mode", "PRAGMA \"" + schema + "\".journal_mode", []string{"memory", "off"}, "wal or delete, for a database in a file"},
			{"synchronous", "PRAGMA \"" + schema + "\".synchronous", []string{"0", "1"}, "FULL"},
		},
	}[cfg.Dialect] {
		var value string
		if err := s.db.QueryRowContext(ctx, c.query).Scan(&value); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		if slices.Contains(c.bad, value) {
			return &worker.LossyError{Setting: c.setting, Value: value, Want: c.want}
		}
	}
	if cfg.Dialect == SQLite {
		return s.inFile(ctx, schema)
	}
	return nil
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

// kept refuses a table that a crash of the server may empty, whatever the server's
// settings are.
func (s *Store) kept(ctx context.Context, cfg Config, suffix string) error {
	table := cfg.table(suffix)
	switch cfg.Dialect {
	case Postgres:
		var persistence string
		err := s.db.QueryRowContext(ctx, "SELECT CAST(relpersistence AS TEXT) FROM pg_catalog.pg_class WHERE oid = to_regclass('"+table+"')").Scan(&persistence)
		if err != nil {
			return fmt.Errorf("sqlstore: ask whether the table %s is logged: %w", table, err)
		}
		if persistence != "p" {
			return &worker.LossyError{Setting: "relpersistence of the table " + table, Value: persistence, Want: "p, a table that is logged"}
		}
	case MySQL:
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
			return fmt.Errorf("sqlstore: ask for the engine of the table %s: %w", table, err)
		}
		if !strings.EqualFold(engine, "InnoDB") {
			return &worker.LossyError{Setting: "engine of the table " + table, Value: fmt.Sprintf("%q", engine), Want: "InnoDB"}
		}
	}
	return nil
}
