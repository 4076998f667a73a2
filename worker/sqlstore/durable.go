package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A condition must hold for every write: otherwise the write could be lost, or go wrong. It is part of
// the statement.
type condition struct {
	ok                   string // an expression that must be true
	err                  error  // if it is not true; nil: a *driver.DurabilityError made from
	setting, value, want string // the setting's name, the expression for it, and the value it should have
}

var errTimestamp = errors.New("the session has SET timestamp, which stops the clock of MySQL for it: SET timestamp = DEFAULT")

// setConditions sets the conditions of all writes, and the additional ones of counters, which must not
// lose a number. Members of a cluster share an incarnation. So there, all writes have the conditions that
// keep a write from staying on one member.
func (s *server) setConditions(has variables) {
	switch s.Dialect {
	case Postgres:
		s.always = []condition{{ok: "transaction_timestamp() = statement_timestamp()", err: errNotOwn, value: "''"}}
		s.durable = []condition{{
			ok:      "current_setting('fsync') = 'on'",
			setting: "fsync", value: "current_setting('fsync')", want: "on",
		}}
	case MySQL:
		logged := condition{
			ok:      "(@@log_bin = 0 OR @@sql_log_bin = 1)",
			setting: "sql_log_bin", value: "@@sql_log_bin", want: "ON, in the session",
		}
		s.always = []condition{{ok: "TIMESTAMPDIFF(SECOND, NOW(6), SYSDATE(6)) BETWEEN 0 AND 60", err: errTimestamp, value: "''"}}
		s.durable = []condition{
			{
				ok:      "@@innodb_flush_log_at_trx_commit = 1",
				setting: "innodb_flush_log_at_trx_commit", value: "@@innodb_flush_log_at_trx_commit", want: "1",
			},
			{ok: "(@@log_bin = 0 OR @@sync_binlog = 1)", setting: "sync_binlog", value: "@@sync_binlog", want: "1"},
			logged,
		}
		switch {
		case has["wsrep_on"] != "":
			s.always = append(s.always, condition{
				ok:      "(@@wsrep_on = 1 OR @@wsrep_provider IN ('', 'none'))",
				setting: "wsrep_on", value: "@@wsrep_on", want: "ON",
			})
		case has["group_replication_group_name"] != "":
			member := condition{ok: inGroup, setting: "group_replication", value: "'OFFLINE'", want: "ONLINE"}
			s.always = append(s.always, logged, member)
		}
	}
}

// inGroup is false on a server that is configured for a group but accepts writes outside it, because
// Group Replication was stopped or not started at boot. The variable exists only with the plugin.
const inGroup = "(@@group_replication_group_name = '' OR @@super_read_only = 1 OR EXISTS (SELECT 1 FROM performance_schema.replication_group_members" +
	" WHERE member_id = @@server_uuid AND member_state <> 'OFFLINE'))"

// conditions returns the conditions of this session's writes.
func (x session) conditions() []condition {
	if x.counting && !x.AllowDataLoss {
		return slices.Concat(x.always, x.durable)
	}
	return x.always
}

// unmet returns the error of the first condition that is not met, or an error if they cannot be
// checked.
func (x session) unmet(ctx context.Context) error {
	conditions := x.conditions()
	if len(conditions) == 0 {
		return nil
	}
	queries, values, into := make([]string, len(conditions)), make([]string, len(conditions)), make([]any, len(conditions))
	for i, c := range conditions {
		queries[i], into[i] = "CASE WHEN "+c.ok+" THEN '-' ELSE "+c.value+" END", &values[i]
	}
	if err := x.row(ctx, "SELECT "+strings.Join(queries, ", "), into...); err != nil {
		return fmt.Errorf("ask why nothing was written: %w", err)
	}
	for i, c := range conditions {
		switch {
		case values[i] == "-":
		case c.err != nil:
			return c.err
		default:
			return &driver.DurabilityError{Setting: c.setting, Value: values[i], Want: c.want}
		}
	}
	return nil
}

// checkDurable returns an error if the database may lose a counter's value.
func (x session) checkDurable(ctx context.Context) error {
	if x.Dialect != SQLite {
		return x.unmet(ctx)
	}
	var mode string
	if err := x.row(ctx, x.pragma("journal_mode"), &mode); err != nil {
		return fmt.Errorf("ask for the journal_mode: %w", err)
	}
	switch {
	case x.AllowDataLoss:
	case x.incarnation.inMemory:
		return &driver.DurabilityError{Setting: "file", Value: `""`, Want: "the path of a file"}
	case mode == "memory", mode == "off":
		return &driver.DurabilityError{Setting: "journal_mode", Value: mode, Want: "wal or delete for a database in a file (in the DSN: _pragma=journal_mode(wal), or _journal_mode=wal with the driver of mattn)"}
	}
	return nil
}
