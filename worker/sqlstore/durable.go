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
