package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
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
		rare           bool // most servers do not have this setting
	}
	checks := map[Dialect][]check{
		Postgres: {
			{"synchronous_commit", "SELECT " + commitLevel, []string{"off", "local"}, "on", false},
			{"fsync", "SELECT current_setting('fsync')", []string{"off"}, "on", false},
		},
		MySQL: {
			{"innodb_flush_log_at_trx_commit", "SELECT @@innodb_flush_log_at_trx_commit", []string{"0", "2", "3"}, "1", false},
			{"wsrep_on", "SELECT CASE WHEN @@wsrep_on = 0 AND @@wsrep_provider NOT IN ('', 'none') THEN 'OFF' ELSE 'ON' END", []string{"OFF"}, "ON", true},
			{"group_replication", leftGroup, []string{"OFFLINE"}, "ONLINE", true},
			{"sync_binlog", "SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END", []string{"not 1"}, "1", false},
		},
		SQLite: {
			{"journal_mode", "PRAGMA \"" + schema + "\".journal_mode", []string{"memory", "off"}, "wal or delete, for a database in a file", false},
			{"synchronous", "PRAGMA \"" + schema + "\".synchronous", []string{"0", "1"}, "FULL", false},
		},
	}[cfg.Dialect]
	var usual []string
	for _, c := range checks {
		if !c.rare {
			usual = append(usual, c.query)
		}
	}
	values := s.together(ctx, cfg.Dialect, usual)
	for _, c := range checks {
		value, shown := values[c.query]
		if !shown {
			var err error
			if shown, err = s.setting(ctx, cfg.Dialect, c.query, &value); err != nil {
				return fmt.Errorf("sqlstore: ask for the setting %s: %w", c.setting, err)
			}
		}
		if shown && slices.Contains(c.bad, value) {
			return &driver.DurabilityError{Setting: c.setting, Value: value, Want: c.want}
		}
	}
	if cfg.Dialect == SQLite {
		return s.inFile(ctx, schema)
	}
	return nil
}

// leftGroup finds a server that is configured for a group and accepts writes outside it:
// Group Replication was stopped, or not started at boot. The variable exists only with the
// plugin.
const leftGroup = "SELECT CASE WHEN @@group_replication_group_name <> '' AND @@super_read_only = 0 AND NOT EXISTS (SELECT 1 FROM performance_schema.replication_group_members" +
	" WHERE member_id = @@server_uuid AND member_state <> 'OFFLINE') THEN 'OFFLINE' ELSE 'ONLINE' END"

// together reads several settings by one query, to save round trips, and returns them by
// their expression. If the query fails it returns none: then each is read by itself.
func (s *Store) together(ctx context.Context, d Dialect, queries []string) map[string]string {
	if d == SQLite { // its settings are no expressions
		return nil
	}
	values := make([]string, len(queries))
	into := make([]any, len(queries))
	for i := range values {
		into[i] = &values[i]
	}
	if s.db.QueryRowContext(ctx, "SELECT ("+strings.Join(queries, "), (")+")").Scan(into...) != nil {
		return nil
	}
	all := make(map[string]string)
	for i, query := range queries {
		all[query] = values[i]
	}
	return all
}

// setting reads a setting by a query. The setting is hidden if the database says that it
// does not exist, or if the query fails twice and the same connection then answers another
// query. Otherwise the connection may have been lost, and the setting is unknown. SQLite
// hides nothing, but a schema that does not exist has no settings.
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
		if unknown(err) {
			return false, nil
		}
		if answers && (d != SQLite || errors.Is(err, sql.ErrNoRows)) {
			if refused++; refused == 2 {
				return false, nil
			}
		}
	}
	return false, err
}

// ask runs a query of one value. If it fails, answers reports whether the connection still
// works.
func (s *Store) ask(ctx context.Context, query string, into any) (answers bool, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	if err = conn.QueryRowContext(ctx, query).Scan(into); err == nil || unknown(err) {
		return true, err
	}
	var one int
	return conn.QueryRowContext(ctx, "SELECT 1").Scan(&one) == nil, err
}

// unknown reports whether err is MySQL's for a variable that does not exist.
func unknown(err error) bool { return strings.Contains(err.Error(), "Error 1193") }

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
			return &driver.DurabilityError{Setting: "file", Value: `""`, Want: "the path of a file"}
		}
	}
	if err := databases.Err(); err != nil {
		return fmt.Errorf("sqlstore: ask for the database's file: %w", err)
	}
	return nil
}
