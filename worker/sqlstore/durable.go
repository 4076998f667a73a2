package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A condition is one of every write: a setting with another value could lose it, or mislead it. A
// write has the condition in its own statement, or, in SQLite, where it is a PRAGMA, asks before.
type condition struct {
	setting, value string // its name, and an expression, or a PRAGMA
	ok             string // a condition in SQL; for a PRAGMA, the values that are not allowed
	want           string
}

// notDurable is the error of a counter's condition, or of one that a cluster has.
func (c condition) err(value string) error {
	if c.setting == "timestamp" {
		return fmt.Errorf("the session has SET timestamp, which stops the clock of MySQL for it: SET timestamp = DEFAULT")
	}
	return &driver.DurabilityError{Setting: c.setting, Value: value, Want: c.want}
}

// conditions are those of writes: of all, and of counters, which must not lose a number. In a cluster,
// whose members share an incarnation, leases have those that keep a write from staying on one member.
func (st *statements) setConditions(server variables) {
	switch st.cfg.Dialect {
	case Postgres:
		st.counters = []condition{{"fsync", "current_setting('fsync')", "current_setting('fsync') = 'on'", "on"}}
	case SQLite:
		st.counters = []condition{{"journal_mode", "PRAGMA \"" + st.cfg.schema() + "\".journal_mode", "memory off", "wal or delete for a database in a file (in the DSN: _pragma=journal_mode(wal), or _journal_mode=wal with the driver of mattn)"}}
	case MySQL:
		clock := condition{"timestamp", "@@timestamp", "TIMESTAMPDIFF(SECOND, NOW(6), SYSDATE(6)) BETWEEN 0 AND 60", ""}
		flushed := condition{"innodb_flush_log_at_trx_commit", "@@innodb_flush_log_at_trx_commit", "@@innodb_flush_log_at_trx_commit = 1", "1"}
		logFlushed := condition{"sync_binlog", "@@sync_binlog", "(@@log_bin = 0 OR @@sync_binlog = 1)", "1"}
		logged := condition{"sql_log_bin", "@@sql_log_bin", "(@@log_bin = 0 OR @@sql_log_bin = 1)", "ON, in the session"}
		st.leases, st.counters = []condition{clock}, []condition{flushed, logFlushed, logged}
		if server["wsrep_on"] != "" {
			replicated := condition{"wsrep_on", "@@wsrep_on", "(@@wsrep_on = 1 OR @@wsrep_provider IN ('', 'none'))", "ON"}
			st.leases, st.counters = append(st.leases, replicated), append(st.counters, replicated)
		}
		if server["group_replication_group_name"] != "" {
			member := condition{"group_replication", "'OFFLINE'", inGroup, "ONLINE"}
			st.leases, st.counters = append(st.leases, logged, member), append(st.counters, member)
		}
		if st.vitess { // its incarnation is constant
			st.leases = st.counters
		}
	}
	if st.cfg.AllowDataLoss {
		st.counters = nil
	}
}

// inGroup finds a server that is configured for a group and accepts writes outside it:
// Group Replication was stopped, or not started at boot. The variable exists only with the
// plugin.
const inGroup = "(@@group_replication_group_name = '' OR @@super_read_only = 1 OR EXISTS (SELECT 1 FROM performance_schema.replication_group_members" +
	" WHERE member_id = @@server_uuid AND member_state <> 'OFFLINE'))"

// unmet returns the error of the first condition that is not met. One that cannot be asked for is an
// error as well.
func (x session) unmet(ctx context.Context, conditions []condition) error {
	if len(conditions) == 0 {
		return nil
	}
	queries, values, into := make([]string, len(conditions)), make([]string, len(conditions)), make([]any, len(conditions))
	for i, c := range conditions {
		queries[i], into[i] = "CASE WHEN "+c.ok+" THEN '-' ELSE "+c.value+" END", &values[i]
	}
	query := "SELECT " + strings.Join(queries, ", ")
	if x.cfg.Dialect == SQLite {
		query = conditions[0].value
	}
	if err := x.row(ctx, query, into...); err != nil {
		return fmt.Errorf("ask for the settings that keep committed writes, beginning with %s: %w", conditions[0].setting, err)
	}
	for i, c := range conditions {
		bad := values[i] != "-"
		if x.cfg.Dialect == SQLite {
			bad = strings.Contains(c.ok, values[i])
		}
		if bad {
			return c.err(values[i])
		}
	}
	return nil
}
