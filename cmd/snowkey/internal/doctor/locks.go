package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
)

// lockers are the queries for sessions whose transactions keep locks on the tables of the leases for
// longer than a claim takes: the session, its user, its program or host, and for how many seconds. The
// statements of a lease do not wait for each other as long.
var lockers = map[dsn.Kind][]string{ //nolint:gochecknoglobals // constant
	// Other users' xact_start is visible to members of pg_read_all_stats only.
	dsn.Postgres: {`SELECT DISTINCT a.pid, coalesce(a.usename, ''), coalesce(a.application_name, ''), coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::bigint
		FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.relation IN (to_regclass('public.snow_lease'), to_regclass('public.snow_namespace')) AND l.granted AND l.mode <> 'AccessShareLock'
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND a.pid <> pg_backend_pid()
		AND NOT EXISTS (SELECT 1 FROM pg_locks w WHERE w.pid = a.pid AND NOT w.granted)
		AND coalesce(a.xact_start < clock_timestamp() - interval '2 seconds', EXISTS (SELECT 1 FROM pg_locks w WHERE NOT w.granted AND a.pid = ANY (pg_blocking_pids(w.pid))))`},
	dsn.MySQL: {
		`SELECT DISTINCT t.trx_mysql_thread_id, coalesce(p.user, ''), coalesce(p.host, ''), timestampdiff(SECOND, t.trx_started, now())
		FROM performance_schema.data_locks l JOIN information_schema.innodb_trx t ON t.trx_id = l.engine_transaction_id
		LEFT JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
		WHERE l.object_schema = database() AND l.object_name IN ('snow_lease', 'snow_namespace') AND l.lock_type = 'RECORD' AND l.lock_status = 'GRANTED' AND t.trx_state <> 'LOCK WAIT'
		AND t.trx_mysql_thread_id <> connection_id() AND t.trx_started < now() - INTERVAL 2 SECOND`,
		// MariaDB has only the locks for which others wait.
		`SELECT DISTINCT t.trx_mysql_thread_id, coalesce(p.user, ''), coalesce(p.host, ''), timestampdiff(SECOND, t.trx_started, now())
		FROM information_schema.innodb_locks l JOIN information_schema.innodb_trx t ON t.trx_id = l.lock_trx_id
		LEFT JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
		WHERE l.lock_table IN (concat('` + "`" + `', database(), '` + "`" + `.` + "`" + `snow_lease` + "`" + `'), concat('` + "`" + `', database(), '` + "`" + `.` + "`" + `snow_namespace` + "`" + `')) AND t.trx_state <> 'LOCK WAIT'
		AND t.trx_mysql_thread_id <> connection_id() AND t.trx_started < now() - INTERVAL 2 SECOND`,
	},
}

// locks names sessions that keep records of worker IDs locked: without them, claims and renewals fail.
func (e *checkup) locks(ctx context.Context) {
	const name = "locks"
	if e.store == nil || !e.Target.Kind.SQL() || e.Target.Kind == dsn.SQLite {
		return
	}
	var found, sessions []string
	var err error
	for _, query := range lockers[e.Target.Kind] {
		if found, sessions, err = e.lockers(ctx, query); err == nil || !dsn.NoTable(err) {
			break
		}
	}
	if err != nil {
		e.skip(name, "not visible: %v", err)
		return
	}
	end := map[dsn.Kind]string{dsn.Postgres: "SELECT pg_terminate_backend(%s)", dsn.MySQL: "KILL %s"}[e.Target.Kind]
	detail, advice := "no transaction keeps records of worker IDs locked", ""
	if len(found) > 0 {
		detail, advice = firstFew(found), "claims and renewals of the records that it keeps locked fail: end its transaction, for example by "+fmt.Sprintf(end, sessions[0])
	}
	e.judge(len(found) > 0, Warn, name, detail, advice)
}

func (e *checkup) lockers(ctx context.Context, query string) (found, sessions []string, err error) {
	rows, err := e.Target.DB.QueryContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var session, user, program string
		var seconds int64
		if err := rows.Scan(&session, &user, &program, &seconds); err != nil {
			return nil, nil, err
		}
		sessions = append(sessions, session)
		found = append(found, dsn.Printable(fmt.Sprintf("session %s of %s (%s), in a transaction for %s", session, user, program, timetext.Length(time.Duration(seconds)*time.Second))))
	}
	return found, sessions, rows.Err()
}
