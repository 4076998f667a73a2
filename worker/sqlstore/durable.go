package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A durabilityCheck is a setting under which a committed write may be lost.
type durabilityCheck struct {
	setting, query string // the query is in parentheses, or a PRAGMA
	bad            []string
	want           string
	plugin         string // the variable of MySQL without which there is no such setting; "": there is always
}

// durabilityChecks are the settings that a write cannot make by itself, as it does
// synchronous_commit of PostgreSQL and synchronous of SQLite.
func durabilityChecks(d Dialect, schema string, server variables) []durabilityCheck {
	switch d {
	case Postgres:
		return []durabilityCheck{{"fsync", "(SELECT current_setting('fsync'))", []string{"off"}, "on", ""}}
	case MySQL:
		return slices.DeleteFunc([]durabilityCheck{
			{"innodb_flush_log_at_trx_commit", "(SELECT @@innodb_flush_log_at_trx_commit)", []string{"0", "2", "3"}, "1", ""},
			{"sync_binlog", "(SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END)", []string{"not 1"}, "1", ""},
			{"sql_log_bin", "(SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END)", []string{"OFF"}, "ON, in the session", ""},
			{"wsrep_on", "(SELECT CASE WHEN @@wsrep_on = 0 AND @@wsrep_provider NOT IN ('', 'none') THEN 'OFF' ELSE 'ON' END)", []string{"OFF"}, "ON", "wsrep_on"},
			{"group_replication", leftGroup, []string{"OFFLINE"}, "ONLINE", "group_replication_group_name"},
		}, func(c durabilityCheck) bool { return c.plugin != "" && server[c.plugin] == "" })
	}
	return []durabilityCheck{{"journal_mode", "PRAGMA \"" + schema + "\".journal_mode", []string{"memory", "off"}, "wal or delete for a database in a file (in the DSN: _pragma=journal_mode(wal), or _journal_mode=wal with the driver of mattn)", ""}}
}

// leftGroup finds a server that is configured for a group and accepts writes outside it:
// Group Replication was stopped, or not started at boot. The variable exists only with the
// plugin.
const leftGroup = "(SELECT CASE WHEN @@group_replication_group_name <> '' AND @@super_read_only = 0 AND NOT EXISTS (SELECT 1 FROM performance_schema.replication_group_members" +
	" WHERE member_id = @@server_uuid AND member_state <> 'OFFLINE') THEN 'OFFLINE' ELSE 'ONLINE' END)"

// checkDurability returns a *driver.DurabilityError if a committed write may be lost. A setting that
// cannot be read is an error as well.
func checkDurability(ctx context.Context, conn *sql.Conn, checks []durabilityCheck, args ...any) error {
	if len(checks) == 0 {
		return nil
	}
	values, into, queries := make([]string, len(checks)), make([]any, len(checks)), make([]string, len(checks))
	for i, c := range checks {
		into[i], queries[i] = &values[i], c.query
	}
	query := "SELECT " + strings.Join(queries, ", ")
	if len(checks) == 1 {
		query = strings.TrimSuffix(strings.TrimPrefix(queries[0], "("), ")")
	}
	if err := conn.QueryRowContext(ctx, query, args...).Scan(into...); err != nil {
		return fmt.Errorf("sqlstore: ask for the settings that keep committed writes, beginning with %s (AllowDataLoss does without them): %w", checks[0].setting, err)
	}
	for i, c := range checks {
		if slices.Contains(c.bad, values[i]) {
			return &driver.DurabilityError{Setting: c.setting, Value: values[i], Want: c.want}
		}
	}
	return nil
}

// flushed calls f while commits of SQLite wait for the disk on this connection.
func (x session) flushed(ctx context.Context, f func() error) error {
	if x.cfg.AllowDataLoss {
		return f()
	}
	if err := checkDurability(ctx, x.conn, x.checks); err != nil {
		return err
	}
	const full = 2
	pragma := "PRAGMA \"" + x.cfg.schema() + "\".synchronous"
	var level int
	if err := x.conn.QueryRowContext(ctx, pragma).Scan(&level); err != nil {
		return err
	}
	if level >= full {
		return f()
	}
	if _, err := x.conn.ExecContext(ctx, fmt.Sprint(pragma, " = ", full)); err != nil {
		if hasText(err, "inside a transaction") {
			err = fmt.Errorf("%w: %w", errOpen, err)
		}
		return err
	}
	defer func() {
		ctx, end := outlive(ctx, time.Second)
		defer end()
		if _, err := x.conn.ExecContext(ctx, fmt.Sprint(pragma, " = ", level)); err != nil {
			discard(x.conn)
		}
	}()
	return f()
}

// Warnings describes settings that might make the database lose an acknowledged write. Each text says
// what to do after a semicolon. Settings that certainly do are a *driver.DurabilityError, as they are
// for a claim. There are none with AllowDataLoss, and no warnings of settings that the database hides.
//
// In PostgreSQL these are standbys that commits do not wait for. A standby that is promoted may
// lack the last claims and renewals, and another holder then gets the same worker ID for the
// same time. This is no error, because some standbys only serve reads.
func (s *Store) Warnings(ctx context.Context) ([]string, error) {
	return call(ctx, s, "ask for warnings", nil, func(x session) ([]string, error) {
		check := func() error { return checkDurability(ctx, x.conn, x.checks, x.simple...) }
		if x.cfg.Dialect == MySQL { // as a write asks
			return nil, inTransaction(ctx, x.conn, x.ended(brackets[MySQL]), check)
		}
		if err := check(); err != nil || x.cfg.Dialect != Postgres || x.cfg.AllowDataLoss {
			return nil, err
		}
		warning, err := x.standbyWarning(ctx)
		switch {
		case err != nil:
			return nil, fmt.Errorf("sqlstore: ask for standbys: %w", err)
		case warning == "":
			return nil, nil
		}
		return []string{warning}, nil
	})
}

// standbyWarning returns "" if there is nothing to warn of, or if the server hides it: one that is
// only compatible with PostgreSQL may not know a query.
func (x session) standbyWarning(ctx context.Context) (string, error) {
	var names, commit, found string
	if shown, err := x.setting(ctx, "SELECT COALESCE(current_setting('synchronous_standby_names', true), '')", &names); err != nil || !shown {
		return "", err
	}
	if strings.TrimSpace(names) != "" {
		if shown, err := x.setting(ctx, "SELECT current_setting('synchronous_commit')", &commit); err != nil || !shown || commit != "remote_write" {
			return "", err
		}
		return "synchronous_commit = remote_write: a standby acknowledges writes that it has not flushed, and may lose them if the machines of both crash; set synchronous_commit = on", nil
	}
	if shown, err := x.setting(ctx, standbys, &found); err != nil || !shown || found == "" {
		return "", err
	}
	return "synchronous_standby_names is empty, and there is " + found + ": a standby that is promoted may lack acknowledged writes, which makes duplicates possible; set synchronous_standby_names, or never promote it", nil
}

// setting reads a setting by a query. It is not shown if the database says that it does not exist,
// or that the role may not see it.
func (x session) setting(ctx context.Context, query string, into any) (shown bool, err error) {
	if err := x.row(ctx, query, into); err == nil || !unknown(err) && !denied(err) {
		return err == nil, err
	}
	return false, nil
}

// standbys lists, in one text, the standbys that may be promoted. These are WAL senders,
// except those of logical replication, of a base backup and of pg_receivewal, and physical
// slots whose standby is disconnected. A role without pg_read_all_stats sees no details of a
// WAL sender.
const standbys = `SELECT COALESCE(string_agg(one, ', ' ORDER BY one), '') FROM (
	SELECT CASE WHEN r.state IS NULL THEN 'a WAL receiver "' || COALESCE(r.application_name, '') || '", of which this role may not see more without pg_monitor'
		ELSE 'an asynchronous standby "' || COALESCE(r.application_name, '') || '"' END AS one
	FROM pg_catalog.pg_stat_replication r
	WHERE COALESCE(r.state, '') <> 'backup' AND COALESCE(r.application_name, '') NOT IN ('pg_basebackup', 'pg_receivewal')
		AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')
	UNION ALL
	SELECT 'a replication slot "' || CAST(s.slot_name AS TEXT) || '" for a standby that is not connected'
	FROM pg_catalog.pg_replication_slots s
	WHERE s.slot_type = 'physical' AND NOT s.active AND NOT s.temporary AND NOT pg_is_in_recovery()) found`
