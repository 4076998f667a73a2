package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// A querier is a *sql.DB, a *sql.Conn or a *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// run is one call of Run or Inspect.
type run struct {
	cfg    Config
	conn   *sql.Conn // the session that has the lock; nil: this is Inspect
	result Result
	held   int // how many attempts of a step were canceled because they held their locks for too long
}

func (r *run) plan(ctx context.Context, q querier) (Plan, error) {
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
func (r *run) limitLockTimeout(ctx context.Context, q querier) error {
	var milliseconds int64
	const setting = "SELECT setting::bigint FROM pg_settings WHERE name = 'deadlock_timeout'"
	if err := q.QueryRowContext(ctx, setting).Scan(&milliseconds); err != nil {
		return fmt.Errorf("migrate: look at the server: %w", err)
	}
	deadlock := time.Duration(milliseconds) * time.Millisecond
	r.cfg.LockTimeout = cmp.Or(r.cfg.LockTimeout, max(min(defaultLock, deadlock/2), time.Millisecond))
	if r.cfg.LockTimeout >= deadlock {
		return live.Error("migrate", "LockTimeout", r.cfg.LockTimeout,
			"must be less than the server's deadlock_timeout, %v, so that no program is the victim of a deadlock", deadlock)
	}
	return nil
}

// lockPatience is how long lock waits for a migration that was killed: see ErrRunning.
const lockPatience = 15 * time.Second

// lock takes the advisory lock "snow", and sets up the session without timeouts, because some steps take long.
// release discards the connection, with its settings.
func (r *run) lock(ctx context.Context) (release func(), err error) {
	conn := r.conn
	// A statement that waited for the lock would have a snapshot, for which CREATE INDEX CONCURRENTLY waits.
	for got, begun := false, time.Now(); !got; {
		err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", lockKey).Scan(&got)
		if err == nil && !got {
			err = live.Sleep(ctx, 100*time.Millisecond)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("migrate: lock: %w", err)
		case !got && time.Since(begun) > lockPatience:
			return nil, ErrRunning
		}
	}
	release = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", lockKey) // if it fails, the lock ends with the session
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	// Not every version has all of these settings.
	const set = `SELECT count(set_config(name,
			CASE name WHEN 'default_transaction_isolation' THEN 'read committed' ELSE '0' END, false))
		FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout',
		'idle_in_transaction_session_timeout', 'idle_session_timeout', 'default_transaction_isolation')`
	if _, err = conn.ExecContext(ctx, set); err != nil {
		release()
		return nil, fmt.Errorf("migrate: set up the session: %w", err)
	}
	// Without this, a statement of a session that was cut off runs to its end. Not every system supports it.
	_, _ = conn.ExecContext(ctx, "SET client_connection_check_interval = 1000")
	return release, nil
}

// sessions describes those sessions a with the oldest transactions that the condition selects. It returns
// "" if the role may not see them.
func (r *run) sessions(ctx context.Context, condition string, args ...any) (string, error) {
	var text sql.NullString
	err := r.conn.QueryRowContext(ctx, `SELECT string_agg(format(
			'process %s of %s, application %L, %s, transaction since %s: %s',
			a.pid, a.usename, a.application_name, a.state, a.xact_start, left(a.query, 80)), '; ')
		FROM (SELECT * FROM pg_stat_activity a WHERE a.pid <> pg_backend_pid() AND `+condition+
		` ORDER BY a.xact_start LIMIT 3) a`, args...).Scan(&text)
	return text.String, err
}
