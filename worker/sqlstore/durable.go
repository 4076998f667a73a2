package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A condition is one of every write: a setting with another value could lose it, or mislead it. It is
// part of the write; Vitess, which does not let us ask in the statement, is asked before.
type condition struct {
	setting, value string // its name, and an expression
	ok             string // an expression that must be true
	want           string
}

var errTimestamp = errors.New("the session has SET timestamp, which stops the clock of MySQL for it: SET timestamp = DEFAULT")

// setConditions finds the conditions of writes: of all, and of counters, which must not lose a number. In
// a cluster, whose members share an incarnation, leases have those that keep a write from staying on one
// member.
func (s *server) setConditions(has variables) {
	switch s.Dialect {
	case Postgres:
		s.counters = []condition{{"fsync", "current_setting('fsync')", "current_setting('fsync') = 'on'", "on"}}
	case MySQL:
		clock := condition{"timestamp", "@@timestamp", "TIMESTAMPDIFF(SECOND, NOW(6), SYSDATE(6)) BETWEEN 0 AND 60", ""}
		flushed := condition{"innodb_flush_log_at_trx_commit", "@@innodb_flush_log_at_trx_commit", "@@innodb_flush_log_at_trx_commit = 1", "1"}
		logFlushed := condition{"sync_binlog", "@@sync_binlog", "(@@log_bin = 0 OR @@sync_binlog = 1)", "1"}
		logged := condition{"sql_log_bin", "@@sql_log_bin", "(@@log_bin = 0 OR @@sql_log_bin = 1)", "ON, in the session"}
		s.leases, s.counters = []condition{clock}, []condition{flushed, logFlushed, logged}
		if has["wsrep_on"] != "" {
			replicated := condition{"wsrep_on", "@@wsrep_on", "(@@wsrep_on = 1 OR @@wsrep_provider IN ('', 'none'))", "ON"}
			s.leases, s.counters = append(s.leases, replicated), append(s.counters, replicated)
		}
		if has["group_replication_group_name"] != "" {
			member := condition{"group_replication", "'OFFLINE'", inGroup, "ONLINE"}
			s.leases, s.counters = append(s.leases, logged, member), append(s.counters, member)
		}
		if s.vitess { // its incarnation is constant
			s.leases = s.counters
		}
	}
	if s.AllowDataLoss {
		s.counters = nil
	}
}

// inGroup finds a server that is configured for a group and accepts writes outside it:
// Group Replication was stopped, or not started at boot. The variable exists only with the
// plugin.
const inGroup = "(@@group_replication_group_name = '' OR @@super_read_only = 1 OR EXISTS (SELECT 1 FROM performance_schema.replication_group_members" +
	" WHERE member_id = @@server_uuid AND member_state <> 'OFFLINE'))"

// conditions are those of this session's writes.
func (x session) conditions() []condition {
	if x.counting {
		return x.counters
	}
	return x.leases
}

// unmet returns the error of the first condition that is not met. One that cannot be asked for is an
// error as well.
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
		return fmt.Errorf("ask for the settings that keep committed writes, beginning with %s: %w", conditions[0].setting, err)
	}
	for i, c := range conditions {
		switch {
		case values[i] == "-":
		case c.want == "":
			return errTimestamp
		default:
			return &driver.DurabilityError{Setting: c.setting, Value: values[i], Want: c.want}
		}
	}
	return nil
}

// checkDurable returns an error if the database may lose a count.
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
