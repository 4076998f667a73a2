package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// run is one call of Run or Inspect.
type run struct {
	cfg    Config
	result Result
	pace   *live.Pace
	held   int // how many attempts of a step were canceled because they held their locks for too long
}

func (r *run) plan(ctx context.Context, q live.Querier) (Plan, error) {
	if err := r.limitLockTimeout(ctx, q); err != nil {
		return Plan{}, err
	}
	j, err := inspectTables(ctx, q, r.cfg)
	if err != nil {
		return Plan{}, err
	}
	return j.plan(ctx)
}

// limitLockTimeout makes LockTimeout less than deadlock_timeout, so that in a deadlock with a program, the
// migration gives up first.
func (r *run) limitLockTimeout(ctx context.Context, q live.Querier) error {
	var milliseconds int64
	const setting = "SELECT setting::bigint FROM pg_settings WHERE name = 'deadlock_timeout'"
	if err := q.QueryRowContext(ctx, setting).Scan(&milliseconds); err != nil {
		return fmt.Errorf("migrate: look at the server: %w", err)
	}
	deadlock := time.Duration(milliseconds) * time.Millisecond
	switch {
	case r.cfg.LockTimeout == 0:
		r.cfg.LockTimeout = max(min(defaultLock, deadlock/2), time.Millisecond)
	case r.cfg.LockTimeout >= deadlock:
		return live.Error("migrate", "LockTimeout", r.cfg.LockTimeout,
			"must be less than the server's deadlock_timeout, %v, so that no program is the victim of a deadlock", deadlock)
	}
	return nil
}

// lockKey is the key of the advisory lock, "snow".
const lockKey = 0x736e6f77

// longest is how long a session may keep the lock after it was cut off or its process was killed: the
// server checks the connection every alive. If the server cannot do that, it may take longer.
const (
	longest = 5 * time.Second
	alive   = time.Second
)

func (r *run) lock(ctx context.Context, conn *sql.Conn) (func(), error) {
	const pause = 100 * time.Millisecond
	for begun := time.Now(); ; {
		var got bool
		err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(lockKey)).Scan(&got)
		switch {
		case err != nil:
			return nil, fmt.Errorf("migrate: lock: %w", err)
		case got:
			return r.session(ctx, conn)
		case time.Since(begun) > longest:
			return nil, fmt.Errorf("%w%s", ErrRunning, holder(ctx, conn))
		}
		if err := live.Sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("migrate: lock: %w", err)
		}
	}
}

// holder names the session that holds the lock. Any role can take an advisory lock; that only keeps
// migrations from running.
func holder(ctx context.Context, conn *sql.Conn) string {
	locks := fmt.Sprintf("locktype = 'advisory' AND classid = 0 AND objid = %d AND objsubid = 1", lockKey)
	const here = " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
	is, _ := sessions(ctx, conn, lockedBy(locks+here))
	if is == "" {
		return "" // it has ended
	}
	return ": " + is + " holds its lock, see SELECT * FROM pg_locks WHERE " + locks
}

// sessions describes those sessions a with the oldest transactions that the condition selects. It returns
// "" if the role may not see them.
func sessions(ctx context.Context, conn *sql.Conn, condition string, args ...any) (string, error) {
	var text sql.NullString
	err := conn.QueryRowContext(ctx, `SELECT string_agg(format(
			'process %s of %s, application %L, %s, transaction since %s: %s',
			a.pid, a.usename, a.application_name, a.state, a.xact_start, left(a.query, 80)), '; ')
		FROM (SELECT * FROM pg_stat_activity a WHERE a.pid <> pg_backend_pid() AND `+condition+
		` ORDER BY a.xact_start LIMIT 3) a`, args...).Scan(&text)
	return text.String, err
}

// lockedBy returns the condition for sessions a that hold locks.
func lockedBy(locks string) string {
	return "EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted AND " + locks + ")"
}

// session sets up a session that has the lock, without timeouts, because some steps take long.
func (r *run) session(ctx context.Context, conn *sql.Conn) (release func(), err error) {
	var before string
	release = func() { // if it fails, the lock ends with the session
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
		defer cancel()
		_, _ = conn.ExecContext(ctx, "SELECT set_config(s.key, s.value, false) FROM json_each_text($1) s", before)
		_, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", int64(lockKey))
	}
	// Not every version has all of these settings.
	const names = `SELECT json_object_agg(name, current_setting(name)) FROM pg_settings WHERE name IN ('statement_timeout',
		'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
		'default_transaction_isolation', 'client_connection_check_interval')`
	if err = conn.QueryRowContext(ctx, names).Scan(&before); err == nil {
		_, err = conn.ExecContext(ctx, `SELECT set_config(s.key, CASE s.key WHEN 'default_transaction_isolation'
			THEN 'read committed' ELSE '0' END, false) FROM json_each_text($1) s`, before)
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("migrate: set up the session: %w", err)
	}
	// Without this, a statement of a session that was cut off runs to its end. Not every system supports it.
	_, _ = conn.ExecContext(ctx, fmt.Sprintf("SET client_connection_check_interval = %d", alive.Milliseconds()))
	return release, nil
}

// quiet is how long to wait for a lock that does not stop writers. It must be longer than
// deadlock_timeout, after which PostgreSQL cancels an autovacuum that is in the way.
const quiet = 10 * time.Second

// attempt runs a transaction that stops writers. The server cancels it if it waits for longer than
// LockTimeout or works for longer than HoldTimeout.
func (r *run) attempt(ctx context.Context, conn *sql.Conn, s Step) (again bool, err error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	limit := r.cfg.LockTimeout + r.cfg.HoldTimeout
	statements := s.Statements
	if strings.HasPrefix(statements[0], "LOCK TABLE") {
		if again, err := r.exec(ctx, tx, quiet, statements[0]); err != nil {
			return again, err
		}
		if err := r.checkUnchanged(ctx, tx, s); err != nil {
			return false, err
		}
		if again, err := r.exec(ctx, tx, r.cfg.LockTimeout, statements[1]); err != nil {
			return again, err
		}
		limit, statements = r.cfg.HoldTimeout, statements[2:]
	}
	// One round trip, to hold the locks only for a short time.
	var block strings.Builder
	for _, text := range statements {
		block.WriteString("EXECUTE " + literal(text) + "; ")
	}
	again, err = r.exec(ctx, tx, limit, "DO "+literal("BEGIN "+block.String()+"END"))
	if live.SQLState(err) == canceled {
		r.held++
	}
	const most = 5 // each stops writers for HoldTimeout
	switch {
	case r.held == most:
		return false, fmt.Errorf("it was canceled %d times, after HoldTimeout, %v: %w", r.held, r.cfg.HoldTimeout, err)
	case err != nil:
		return again, err
	}
	r.held = 0
	return false, tx.Commit()
}

// The SQLSTATEs of lock_timeout and statement_timeout.
const lockNotAvailable, canceled = "55P03", "57014"

// exec runs a statement with a time limit. If this process is stopped or cut off between two statements,
// the server ends the session and its locks.
func (r *run) exec(ctx context.Context, tx *sql.Tx, limit time.Duration, text string) (again bool, err error) {
	lock := min(limit, max(r.cfg.LockTimeout, limit-r.cfg.HoldTimeout))
	_, err = tx.ExecContext(ctx, fmt.Sprintf(`SELECT set_config('statement_timeout', '%d', true),
		set_config('lock_timeout', '%d', true), set_config('idle_in_transaction_session_timeout', '%d', true)`,
		limit.Milliseconds(), lock.Milliseconds(), r.cfg.HoldTimeout.Milliseconds()))
	if err == nil {
		_, err = tx.ExecContext(ctx, text)
	}
	if err == nil {
		return false, nil
	}
	again = slices.Contains([]string{lockNotAvailable, canceled}, live.SQLState(err)) || live.IsUndone(err)
	return again && ctx.Err() == nil, fmt.Errorf("%s: %w", text, err)
}

// blockers names the oldest transactions that hold locks on the tables of a step.
func blockers(ctx context.Context, conn *sql.Conn, s Step) string {
	list, _, _ := strings.Cut(strings.TrimPrefix(s.Statements[0], "LOCK TABLE "), " IN ")
	// This fails for a name with a comma.
	text, _ := sessions(ctx, conn, lockedBy("l.relation = ANY (string_to_array($1, ', ')::regclass[])"), list)
	if text == "" {
		return ""
	}
	return " (the oldest transactions in the way now: " + text + ")"
}

// checkUnchanged plans again, now that the tables are locked against other changes.
func (r *run) checkUnchanged(ctx context.Context, tx *sql.Tx, s Step) error {
	p, err := r.plan(ctx, tx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(p.Steps, func(o Step) bool {
		return o.Name == s.Name && slices.Equal(o.Statements, s.Statements)
	}) {
		return errChanged
	}
	return nil
}
