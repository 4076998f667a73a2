package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// A transaction whose snapshot is older than a fill sees the rows without values in the new column. After a
// swap it would read NULL for each key. So the swap waits until no such snapshot is left, here or on a
// standby. A standby reports its oldest snapshot with hot_standby_feedback.

// nextTransaction returns the number of a new transaction, which begins after the fill.
const nextTransaction = "SELECT pg_current_xact_id()::xid::text"

var errOlder = errors.New("transactions that began before the fill ended are left")

// checkOlder returns an errOlder that names the sessions, or the standbys' replication slots, that have snapshots
// older than a transaction. An empty string is none.
func (r *run) checkOlder(ctx context.Context, transaction string) error {
	if transaction == "" {
		return nil
	}
	const old = "age(a.backend_xmin) > age($1::text::xid) AND a.backend_type IN ('client backend', 'walsender') " +
		"AND coalesce(a.datname, current_database()) = current_database()"
	text, err := r.sessions(ctx, old, transaction)
	if err == nil && text == "" {
		err = r.conn.QueryRowContext(ctx, `SELECT coalesce(string_agg('the replication slot ' || slot_name, ', '), '')
			FROM pg_replication_slots WHERE age(xmin) > age($1::text::xid)`, transaction).Scan(&text)
	}
	if err == nil && text != "" {
		err = fmt.Errorf("%w: %s", errOlder, text)
	}
	return err
}

// checkSnapshots returns an error if this role or a standby hides old snapshots.
func (r *run) checkSnapshots(ctx context.Context, q querier) error {
	var sees bool
	var standby sql.NullString
	err := q.QueryRowContext(ctx, `SELECT pg_has_role('pg_read_all_stats', 'USAGE'), (SELECT min(application_name)
		FROM pg_stat_replication r WHERE state = 'streaming' AND replay_lsn IS NOT NULL AND backend_xmin IS NULL
		AND NOT EXISTS (SELECT FROM pg_replication_slots s
			WHERE s.active_pid = r.pid AND (s.slot_type = 'logical' OR s.xmin IS NOT NULL)))`).Scan(&sees, &standby)
	switch {
	case err != nil:
		return fmt.Errorf("migrate: look for standbys: %w", err)
	case !sees:
		return live.Error("migrate", "Table", r.cfg.Table,
			"this role cannot see whether transactions from before the fill are left: GRANT pg_read_all_stats to it")
	case standby.Valid:
		return live.Error("migrate", "Table", r.cfg.Table,
			"the standby %s does not say which transactions it has from before the fill: SET hot_standby_feedback = on there",
			standby.String)
	}
	return nil
}
