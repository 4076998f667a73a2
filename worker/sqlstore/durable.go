package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A condition is a part of a write's WHERE. If it does not hold, the write could be lost, or go wrong.
type condition struct {
	ok      string // an expression that must be true
	err     error  // if it is not true; nil: a *driver.DurabilityError made from
	setting string
	want    string
	value   string // the expression for the setting's value; empty: @@setting
}

var errTimestamp = errors.New("the session has SET timestamp, which stops the clock of MySQL for it: SET timestamp = DEFAULT")

// setConditions sets the conditions of leases and of counters, which must not lose a number. Members of a
// cluster share an incarnation. So there, all writes have the conditions that keep a write from staying on
// one member.
func (s *server) setConditions(has variables) {
	switch s.Dialect {
	case ddl.Postgres:
		s.ofLeases = []condition{{ok: "transaction_timestamp() = statement_timestamp()", err: errNotOwn}}
		const fsync = "current_setting('fsync')"
		s.ofCounters = []condition{{ok: fsync + " = 'on'", setting: "fsync", want: "on", value: fsync}}
	case ddl.MySQL:
		logged := condition{ok: "(@@log_bin = 0 OR @@sql_log_bin = 1)", setting: "sql_log_bin", want: "ON, in the session"}
		s.ofLeases = []condition{{ok: "TIMESTAMPDIFF(SECOND, NOW(6), SYSDATE(6)) BETWEEN 0 AND 60", err: errTimestamp}}
		if !s.mariaDB {
			s.ofLeases = append(s.ofLeases, condition{ok: "@@autocommit = 1", err: errAutocommit})
		}
		s.ofCounters = []condition{
			{ok: "@@innodb_flush_log_at_trx_commit = 1", setting: "innodb_flush_log_at_trx_commit", want: "1"},
			{ok: "(@@log_bin = 0 OR @@sync_binlog = 1)", setting: "sync_binlog", want: "1"},
			logged,
		}
		switch {
		case has["wsrep_on"] != "":
			s.ofLeases = append(s.ofLeases, condition{ok: "(@@wsrep_on = 1 OR @@wsrep_provider IN ('', 'none'))", setting: "wsrep_on", want: "ON"})
		case has["group_replication_group_name"] != "":
			s.ofLeases = append(s.ofLeases, logged, condition{ok: inGroup, setting: "group_replication", want: "ONLINE", value: "'OFFLINE'"})
		}
	}
	if s.AllowDataLoss {
		s.ofCounters = nil
	}
	s.ofCounters = slices.Concat(s.ofLeases, s.ofCounters)
}

// inGroup is false on a server that is configured for a group but accepts writes outside it, because
// Group Replication was stopped or not started at boot. The variable exists only with the plugin.
const inGroup = "(@@group_replication_group_name = '' OR @@super_read_only = 1 OR EXISTS (SELECT 1 FROM performance_schema.replication_group_members" +
	" WHERE member_id = @@server_uuid AND member_state <> 'OFFLINE'))"

// unmet returns the error of the first condition that is not met, or an error if they cannot be
// checked.
func (x session) unmet(ctx context.Context) error {
	var columns []string
	var values []any
	for _, c := range x.conditions {
		value := cmp.Or(c.value, "@@"+c.setting)
		if c.err != nil {
			value = "''"
		}
		columns, values = append(columns, "CASE WHEN "+c.ok+" THEN '-' ELSE "+value+" END"), append(values, new(string))
	}
	if len(columns) == 0 {
		return nil
	}
	if err := x.queryRow(ctx, "SELECT "+strings.Join(columns, ", "), values...); err != nil {
		return fmt.Errorf("ask why nothing was written: %w", err)
	}
	for i, c := range x.conditions {
		if value := *values[i].(*string); value != "-" {
			return cmp.Or(c.err, error(&driver.DurabilityError{Setting: c.setting, Value: value, Want: c.want}))
		}
	}
	return nil
}

// checkDurable returns an error if the database may lose a counter's value.
func (x session) checkDurable(ctx context.Context) error {
	if x.Dialect != ddl.SQLite {
		return x.unmet(ctx)
	}
	mode, err := x.journalMode(ctx)
	switch {
	case err != nil || x.AllowDataLoss:
		return err
	case x.incarnation.inMemory:
		return &driver.DurabilityError{Setting: "file", Value: `""`, Want: "the path of a file"}
	case mode == "memory" || mode == "off":
		return &driver.DurabilityError{Setting: "journal_mode", Value: mode, Want: "wal or delete for a database in a file (in the DSN: _pragma=journal_mode(wal), or _journal_mode=wal with the driver of mattn)"}
	}
	return nil
}
