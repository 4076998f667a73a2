package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// write calls f, which writes by one statement that commits by itself; in SQLite, it is in a
// transaction, which waits until it may write.
//
// After the context is done, the outcome is unknown, whatever the database answers: a driver may
// have cancelled the commit, and PostgreSQL then reports success although no standby has it.
func (x session) write(ctx context.Context, f func() error) error {
	return retryUndone(ctx, func() (err error) {
		if x.cfg.Dialect == SQLite {
			err = x.flushed(ctx, func() error { return inTransaction(ctx, x.conn, f) })
		} else if err = f(); x.cfg.Dialect == MySQL && err == nil {
			if status, known := serverStatus(x.conn); known && status&inTransactionFlag != 0 { // a proxy has begun one
				discard(x.conn)
				return errOpen
			}
		}
		if err == nil && ctx.Err() != nil {
			err = fmt.Errorf("the answer came too late to tell whether the write was cancelled: %w", ctx.Err())
		}
		return err
	})
}

// retryUndone repeats what a conflict has undone. Nothing else below a verb repeats anything.
func retryUndone(ctx context.Context, f func() error) error {
	var last error // a conflict
	err := driver.Retry(ctx, func() (bool, error) {
		err := f()
		if last = nil; err != nil && retry.IsUndone(err) {
			last, err = err, nil
		}
		return last == nil, err
	})
	if last != nil && err != nil {
		return fmt.Errorf("%w: %w", err, last)
	}
	return err
}

var errOpen = errors.New("the connection is in a transaction that was left open, which could undo what this store writes: end it before its connection returns to the pool, or give the store a pool of its own")

// inTransaction calls f in a transaction of SQLite. A connection that may be left in one is closed:
// it would keep all others from writing. A driver may report an error of what it did when the context
// was done, and success of what it left undone then.
func inTransaction(ctx context.Context, conn *sql.Conn, f func() error) (err error) {
	ended := false
	defer func() {
		if ended {
			return
		}
		ctx, end := outlive(ctx, time.Second)
		defer end()
		_, err := conn.ExecContext(ctx, "ROLLBACK")
		if err != nil && !hasText(err, "no transaction is active") || ctx.Err() != nil {
			discard(conn)
		}
	}()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		if ended = hasText(err, "within a transaction"); ended {
			return fmt.Errorf("%w: %w", errOpen, err)
		}
		return err
	}
	if err := f(); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	ended = err == nil && ctx.Err() == nil
	return err
}

// outlive returns a context that is done a given time after ctx.
func outlive(ctx context.Context, by time.Duration) (longer context.Context, end func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, func() { cancel(ctx.Err()) }) })
	return longer, func() { stop(); cancel(nil) }
}

// flushed calls f while commits of SQLite wait for the disk on this connection.
func (x session) flushed(ctx context.Context, f func() error) error {
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
	defer x.setBack(ctx, fmt.Sprint(pragma, " = ", level))
	return f()
}

// The longest wait for a lock, which ends by itself, before the client gives up.
const (
	maxLockWait   = 2 * time.Second
	claimLockWait = 500 * time.Millisecond
	minLockWait   = 100 * time.Millisecond
)

// lockWait is how long a statement may wait for a lock. A claim waits only a moment: it takes another
// worker ID.
func lockWait(ctx context.Context, most time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, max(time.Until(deadline)/2, minLockWait)).Truncate(minLockWait)
	}
	return most
}

// lockSeconds is lockWait in MySQL.
func lockSeconds(ctx context.Context) int64 {
	return max(int64(lockWait(ctx, maxLockWait)/time.Second), 1)
}

// statement completes a statement of leases: its gate, the server's incarnation, and its wait for
// locks.
func (x session) statement(ctx context.Context, wait time.Duration, query string, args ...any) (string, error) {
	server, err := x.server()
	if err != nil {
		return "", err
	}
	gate := x.gate(x.leases, "local", lockWait(ctx, wait))
	query = strings.ReplaceAll(strings.ReplaceAll(query, "{gate}", gate), "{server}", server)
	return x.limited(ctx, x.text(x.fill.Replace(query), args...)), nil
}

// limited makes a statement of MySQL or MariaDB wait for locks for a short time.
func (x session) limited(ctx context.Context, query string) string {
	seconds := lockSeconds(ctx)
	switch {
	case x.mariaDB:
		sync := ""
		if x.galera {
			sync = ", wsrep_sync_wait = 7" // a node applies in its own time what others have committed
		}
		return fmt.Sprintf("SET STATEMENT lock_wait_timeout = %d, innodb_lock_wait_timeout = %[1]d%s FOR %s", seconds, sync, query)
	case x.cfg.Dialect == MySQL && !x.vitess:
		verb, rest, _ := strings.Cut(query, " ")
		return fmt.Sprintf("%s /*+ SET_VAR(lock_wait_timeout = %d) */ %s", verb, seconds, rest)
	}
	return query
}

// gate is what must hold in every write, after AND. In PostgreSQL, the write is in a transaction of its
// own, not in one that was left open in the session, where the time of the transaction is an earlier
// one; and its commit waits for the disk, whatever the session says.
func (st *statements) gate(conditions []condition, commit string, wait time.Duration) string {
	var b strings.Builder
	if st.cfg.Dialect == Postgres {
		fmt.Fprintf(&b, " AND transaction_timestamp() = statement_timestamp()"+
			" AND (SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN (%s) THEN '%s' ELSE current_setting('synchronous_commit') END, true)) <> ''"+
			" AND (SELECT set_config('lock_timeout', '%d', true)) <> ''", map[string]string{"local": "'off'", "on": "'off', 'local'"}[commit], commit, wait.Milliseconds())
	}
	for _, c := range conditions {
		if !st.vitess && st.cfg.Dialect != SQLite {
			b.WriteString(" AND " + c.ok)
		}
	}
	return b.String()
}

// exec executes a write, and reports whether it changed a row.
func (x session) exec(ctx context.Context, wait time.Duration, query string, args ...any) (changed bool, err error) {
	err = x.write(ctx, func() error {
		text, err := x.statement(ctx, wait, query, args...)
		if err != nil {
			return err
		}
		result, err := x.change(ctx, x.leases, text)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		changed = n > 0
		return err
	})
	if err == nil && !changed {
		err = x.refused(ctx, x.leases)
	}
	return changed && err == nil, err
}

// change executes a statement that changes a row. A session of MySQL may allow that only for a
// transaction that says so.
func (x session) change(ctx context.Context, conditions []condition, query string) (sql.Result, error) {
	if x.vitess { // which does not let us ask in the statement
		if err := x.unmet(ctx, conditions); err != nil {
			return nil, err
		}
	}
	result, err := x.conn.ExecContext(ctx, query)
	if retry.MySQLNumber(err) == readOnlyTransaction {
		if _, failed := x.conn.ExecContext(ctx, "SET TRANSACTION READ WRITE"); failed == nil {
			result, err = x.conn.ExecContext(ctx, query)
		}
	}
	return result, x.explained(err)
}

// explained adds the cause to an error, or the meaning that it has for a lease.
func (x session) explained(err error) error {
	switch state := retry.SQLState(err); {
	case err == nil:
		return nil
	case state == abortedTransaction:
		return fmt.Errorf("%w: %w", errOpen, err)
	case x.cfg.Dialect == Postgres && readOnly(err):
		return fmt.Errorf("%w: it is a standby, or default_transaction_read_only is on for the session, the role or the database: set it off", err)
	case x.incarnation.inMemory && hasText(err, "no such table"):
		return errPrivate
	case isLocked(err):
		return fmt.Errorf("%w: %w", driver.ErrLocked, err)
	}
	return err
}

// refused is why a write has changed nothing, unless what it looks for was not there.
func (x session) refused(ctx context.Context, conditions []condition) error {
	switch x.cfg.Dialect {
	case SQLite:
		return nil
	case Postgres:
		if _, err := x.conn.ExecContext(ctx, "SAVEPOINT snowkey"); err == nil {
			_, _ = x.conn.ExecContext(ctx, "RELEASE SAVEPOINT snowkey")
			return cmp.Or(ctx.Err(), errOpen) // a driver may have skipped it
		} else if retry.SQLState(err) != noTransaction {
			return err
		}
		var one bool // a driver may send a query in several messages, which have a time each: then the gate is always closed
		if err := x.row(ctx, "SELECT transaction_timestamp() = statement_timestamp()", &one); err != nil {
			return err
		} else if !one {
			return driver.Permanent(errors.New("the driver prepares statements, which the store does not work with: give it pgx or lib/pq without a wrapper, in an encoding of UTF8, or set pgx's default_query_exec_mode to simple_protocol"))
		}
	}
	return x.unmet(ctx, conditions)
}

// SQLSTATEs, and a number of MySQL.
const (
	noTransaction       = "25P01" // no_active_sql_transaction
	abortedTransaction  = "25P02" // in_failed_sql_transaction
	readOnlyTransaction = 1792
)

// row runs a query of one row, without arguments.
func (x session) row(ctx context.Context, query string, into ...any) error {
	return x.conn.QueryRowContext(ctx, query, x.simple...).Scan(into...)
}

// each runs a query without arguments, and calls scan for each row.
func (x session) each(ctx context.Context, scan func(*sql.Rows) error, query string) error {
	return eachRow(ctx, x.conn, scan, query, x.simple...)
}

// eachRow runs a query, and calls scan for each row. It reads to the end: a row may come before
// the commit, and the error of the commit after the row. If the context is done, that is an error:
// a driver may have skipped the query, or the rest of it.
func eachRow(ctx context.Context, q Tx, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return cmp.Or(rows.Err(), rows.Close(), ctx.Err())
}

var errNoAnswer = errors.New("the answer lacks what was asked for")
