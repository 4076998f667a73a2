package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// fill replaces each ? with a literal. Then drivers send one message and prepare nothing: preparing takes
// another round trip, and a pooler in transaction mode would lose the prepared statement.
func (s *server) fill(query string, values ...any) string {
	for _, v := range values {
		if text, ok := v.(string); ok {
			v = s.literal(text)
		}
		query = strings.Replace(query, "?", fmt.Sprint(v), 1)
	}
	return query
}

// literal returns a string literal that means the same in any encoding and with any settings of the
// session. It contains no ? and no {.
func (s *server) literal(text string) string {
	switch s.Dialect {
	case ddl.Postgres:
		quoted := strconv.QuoteToASCII(text)
		return "E'" + strings.NewReplacer("'", `\x27`, "?", `\x3f`, "{", `\x7b`).Replace(quoted[1:len(quoted)-1]) + "'"
	case ddl.MySQL:
		return fmt.Sprintf("_utf8mb4 X'%x'", text)
	}
	return "'" + strings.NewReplacer("'", "''", "?", "'||char(63)||'", "{", "'||char(123)||'", "\x00", "'||char(0)||'").Replace(text) + "'"
}

// now returns an expression for the database's clock in Unix milliseconds. PostgreSQL evaluates it at
// that moment, the others at the start of the statement, which may be earlier.
func (s *server) now() string {
	switch s.Dialect {
	case ddl.Postgres:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT)"
	case ddl.MySQL:
		return "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)" // without time zones or daylight saving time
	}
	return "CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)"
}

// expand returns a query as it is sent. In queries, {l} and {n} stand for the tables of the records and
// of the namespaces, {now} for the database's clock, {server} for its incarnation, and {gate} for the
// conditions of every write.
func (x session) expand(ctx context.Context, wait time.Duration, query string) (string, error) {
	incarnation, err := x.present()
	if err != nil {
		return "", err
	}
	wait = lockWait(ctx, wait)
	return x.limited(wait, strings.NewReplacer("{l}", x.Quoted(leasetables.Records), "{n}", x.Quoted(leasetables.Namespaces),
		"{now}", x.now(), "{server}", incarnation, "{gate}", x.gate(wait)).Replace(query)), nil
}

// gate returns the conditions of every write, each after AND. In PostgreSQL it also makes the commit wait
// for the disk and, for counters, for standbys, whatever the session's settings are.
func (x session) gate(wait time.Duration) (gate string) {
	for _, c := range x.conditions {
		gate += " AND " + c.ok
	}
	if x.Dialect == ddl.Postgres {
		weak, commit := "'off'", "local"
		if x.counting {
			weak, commit = "'off', 'local'", "on"
		}
		gate += fmt.Sprintf(" AND (SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN (%s) THEN '%s' ELSE current_setting('synchronous_commit') END, true)) <> ''"+
			" AND (SELECT set_config('lock_timeout', '%d', true)) <> ''", weak, commit, wait.Milliseconds())
	}
	return gate
}

const (
	maxLockWait   = 2 * time.Second
	claimLockWait = 500 * time.Millisecond // a claim then takes another worker ID
	minLockWait   = 100 * time.Millisecond
)

// lockWait returns how long a statement may wait for a lock, so that it ends before the client gives up.
func lockWait(ctx context.Context, most time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, max(time.Until(deadline)/2, minLockWait)).Truncate(minLockWait)
	}
	return most
}

// limited adds the limit for lock waits to a statement of MySQL or MariaDB, in seconds, and the time zone:
// the creation of a table in the hour that a zone has twice is another moment in another zone.
func (s *server) limited(wait time.Duration, query string) string {
	seconds := max(int64(wait/time.Second), 1)
	switch {
	case s.mariaDB:
		sync := ""
		if s.galera {
			sync = ", wsrep_sync_wait = 7" // a node may apply later what others have committed
		}
		return fmt.Sprintf("SET STATEMENT time_zone = _latin1'+00:00', lock_wait_timeout = %d, innodb_lock_wait_timeout = %[1]d%s FOR %s", seconds, sync, query)
	case s.Dialect == ddl.MySQL:
		verb, rest, _ := strings.Cut(query, " ")
		return fmt.Sprintf("%s /*+ SET_VAR(time_zone = '+00:00') SET_VAR(lock_wait_timeout = %d) */ %s", verb, seconds, rest)
	}
	return query
}

// write executes a write, and reports whether its last query has changed a row. In SQLite the queries are
// one transaction, and write stops at the first query that changes nothing.
func (x session) write(ctx context.Context, wait time.Duration, queries ...string) (changed bool, err error) {
	_, changed, err = x.writeReturning(ctx, wait, "1", queries...)
	return changed, err
}

// writeReturning is like write, but also returns a number of the changed row: a column or, in MySQL, the insert ID.
//
// After ctx is done, the outcome is unknown, whatever the database answers: a driver may have cancelled
// the commit, and PostgreSQL then reports success although no standby has it.
func (x session) writeReturning(ctx context.Context, wait time.Duration, column string, queries ...string) (number int64, changed bool, err error) {
	execute := func() error {
		for _, q := range queries {
			if x.Dialect != ddl.MySQL {
				q += " RETURNING " + column
			}
			text, err := x.expand(ctx, wait, q)
			if err != nil {
				return err
			}
			number, changed, err = x.execReturning(ctx, x.conn, text, x.simple...)
			if err != nil || !changed && x.Dialect == ddl.SQLite {
				return x.explained(err)
			}
		}
		return nil
	}
	err = retryUndone(ctx, func() error {
		if x.Dialect == ddl.SQLite {
			return x.inTransaction(ctx, execute)
		}
		return execute()
	})
	switch {
	case err != nil:
		return 0, false, err
	case ctx.Err() != nil:
		return 0, false, fmt.Errorf("the answer came too late to tell whether the write was cancelled: %w", ctx.Err())
	case !changed:
		return 0, false, x.unmet(ctx)
	}
	return number, true, nil
}

// execReturning executes a statement that changes a row, and returns a number: MySQL's insert ID, or a column of
// the row that the others return.
func (cfg Config) execReturning(ctx context.Context, tx Tx, text string, args ...any) (number int64, changed bool, err error) {
	if cfg.Dialect != ddl.MySQL {
		err = queryRows(ctx, tx, func(rows *sql.Rows) error { changed = true; return rows.Scan(&number) }, text, args...)
		return number, changed, err
	}
	result, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, false, err
	}
	rows, err := result.RowsAffected()
	if err == nil {
		number, err = result.LastInsertId()
	}
	return number, rows > 0, err
}

// retryUndone calls f again while a conflict undoes it. No other function below a verb retries.
func retryUndone(ctx context.Context, f func() error) error {
	var last error
	err := driver.Retry(ctx, func() (bool, error) {
		if last = f(); retry.IsUndone(last) {
			return false, nil
		}
		return true, last
	})
	if err != nil && retry.IsUndone(last) {
		return fmt.Errorf("%w: %w", err, last)
	}
	return err
}

// inTransaction calls f in an SQLite transaction whose commit waits for the disk. An open transaction would
// keep all others from writing, so inTransaction also ends it when ctx is done: a driver may then report an
// error for what it did, and success for what it did not do.
func (x session) inTransaction(ctx context.Context, f func() error) error {
	const full = 2
	pragma := x.pragma("synchronous")
	var level int
	if err := x.queryRow(ctx, pragma, &level); err != nil {
		return err
	}
	if level < full {
		if _, err := x.conn.ExecContext(ctx, fmt.Sprint(pragma, " = ", full)); err != nil {
			return openError(err)
		}
		defer finish(ctx, x.conn, fmt.Sprint(pragma, " = ", level))
	}
	_, err := x.conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	if err = openError(err); errors.Is(err, errOpen) {
		return err
	}
	if err == nil {
		err = f()
	}
	if err == nil {
		_, err = x.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil || ctx.Err() != nil {
		finish(ctx, x.conn, "ROLLBACK")
	}
	return err
}

// finish executes the last statement on an SQLite connection. If that fails, the pool closes the
// connection.
func finish(ctx context.Context, conn *sql.Conn, query string) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer end()
	if _, err := conn.ExecContext(ctx, query); err != nil && !hasText(err, "no transaction is active") || ctx.Err() != nil {
		discard(conn)
	}
}

// queryRow runs a query without arguments that returns one row.
func (x session) queryRow(ctx context.Context, text string, into ...any) error {
	return x.conn.QueryRowContext(ctx, text, x.simple...).Scan(into...)
}

// queryRows runs a query, and calls scan for each row. It reads to the end, because a row may come before the
// commit, and the commit's error after the row. If ctx is done, queryRows returns its error: a driver may
// have skipped the query, or the rest of it.
func queryRows(ctx context.Context, q Tx, scan func(*sql.Rows) error, text string, args ...any) error {
	rows, err := q.QueryContext(ctx, text, args...)
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
