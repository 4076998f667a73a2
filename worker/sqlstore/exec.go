package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// retrySwap is driver.Retry, which also repeats what a conflict has undone. Each request is in one
// of it, and nothing below repeats anything.
func retrySwap(ctx context.Context, swap func() (swapped bool, err error)) error {
	var last error // a conflict
	err := driver.Retry(ctx, func() (bool, error) {
		swapped, err := swap()
		if last = nil; err != nil && retry.IsUndone(err) {
			last, err = err, nil
			swapped = false
		}
		return swapped, err
	})
	if last != nil && err != nil {
		return fmt.Errorf("%w: %w", err, last)
	}
	return err
}

// commit calls write, which writes by one statement, in a transaction that no setting of the
// session weakens.
//
// After the context is done, the outcome is unknown, whatever the database answers: a driver may
// have cancelled the commit, and PostgreSQL then reports success although no standby has it.
func (x session) commit(ctx context.Context, write func() error) (err error) {
	switch x.cfg.Dialect {
	case Postgres: // one statement is a transaction, and its gate sees to the rest
		err = write()
	case MySQL:
		err = inTransaction(ctx, x.conn, x.ended(brackets[MySQL]), func() error {
			// Not before: a proxy may send what is outside a transaction to a replica.
			if err := checkDurability(ctx, x.conn, x.checks); err != nil {
				return err
			}
			return write()
		})
	case SQLite:
		err = x.flushed(ctx, func() error { return inTransaction(ctx, x.conn, brackets[SQLite], write) })
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("the answer came too late to tell whether the write was cancelled: %w", ctx.Err())
	}
	return err
}

var errOpen = errors.New("the connection is in a transaction that was left open, which could undo what this store writes: end it before its connection returns to the pool, or give the store a pool of its own")

// A bracket is what begins and ends a transaction, whatever autocommit, completion_type and
// transaction_read_only the session has.
type bracket struct{ begin, commit, rollback string }

var brackets = map[Dialect]bracket{
	MySQL:  {"START TRANSACTION READ WRITE", "COMMIT AND NO CHAIN NO RELEASE", "ROLLBACK AND NO CHAIN NO RELEASE"},
	SQLite: {"BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"},
}

// reading is a bracket for MySQL, whose read-only servers begin no other.
var reading = bracket{"START TRANSACTION READ ONLY", brackets[MySQL].commit, brackets[MySQL].rollback}

// ended returns the bracket as the server reads it. Vitess knows only the short forms, and ignores
// completion_type.
func (st *statements) ended(b bracket) bracket {
	if st.vitess {
		b.commit, b.rollback = "COMMIT", "ROLLBACK"
	}
	return b
}

// inTransaction calls f in a transaction of its own. A connection that may be left in one is closed:
// in SQLite it would keep all others from writing. A driver may report an error of what it did when
// the context was done, and success of what it left undone then.
func inTransaction(ctx context.Context, conn *sql.Conn, b bracket, f func() error) (err error) {
	ended := false
	defer func() {
		if ended {
			return
		}
		ctx, end := outlive(ctx, time.Second)
		defer end()
		_, err := conn.ExecContext(ctx, b.rollback)
		if err != nil && !hasText(err, "no transaction is active") || ctx.Err() != nil {
			discard(conn)
		}
	}()
	if _, err := conn.ExecContext(ctx, b.begin); err != nil {
		if ended = hasText(err, "within a transaction"); ended {
			return fmt.Errorf("%w: %w", errOpen, err)
		}
		return err
	}
	if err := f(); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, b.commit)
	ended = err == nil && ctx.Err() == nil
	return err
}

// outlive returns a context that is done a given time after ctx.
func outlive(ctx context.Context, by time.Duration) (longer context.Context, end func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, func() { cancel(ctx.Err()) }) })
	return longer, func() { stop(); cancel(nil) }
}

// single calls f, which reads. A session of MySQL with autocommit off would otherwise stay in a
// transaction, and read what was there when that began.
func (x session) single(ctx context.Context, f func() error) error {
	if x.cfg.Dialect != MySQL {
		return f()
	}
	return inTransaction(ctx, x.conn, x.ended(reading), f)
}

// synced is single on a node of a Galera cluster that has applied what other nodes had committed
// before. A node applies that in its own time, and might not know of a claim that another node
// has just acknowledged. Uniqueness does not depend on it: the commit of a node that is behind
// fails.
func (x session) synced(ctx context.Context, f func() error) error {
	if x.galera {
		if err := x.catchUp(ctx); err != nil {
			return err
		}
	}
	return x.single(ctx, f)
}

// catchUp waits until a node of Galera has applied what the others have committed.
func (x session) catchUp(ctx context.Context) error {
	var one int
	if err := x.row(ctx, "SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1", &one); err != nil { // a transaction would not wait
		return fmt.Errorf("wait for this node to catch up with its cluster: %w", err)
	}
	return nil
}

// exec runs a statement that changes a row, and reports whether it has.
func (x session) exec(ctx context.Context, query string, args ...any) (changed bool, err error) {
	err = x.commit(ctx, func() (err error) {
		changed, err = x.change(ctx, query, args...)
		return err
	})
	return changed && err == nil, err
}

// refused is why the gate of PostgreSQL was closed; nil: it was open.
func (x session) refused(ctx context.Context) error {
	if x.cfg.Dialect != Postgres {
		return nil
	}
	if _, err := x.conn.ExecContext(ctx, "SAVEPOINT snowkey"); err == nil {
		_, _ = x.conn.ExecContext(ctx, "RELEASE SAVEPOINT snowkey")
		return cmp.Or(ctx.Err(), errOpen) // a driver may have skipped it
	} else if retry.SQLState(err) != noTransaction {
		return err
	}
	return checkDurability(ctx, x.conn, x.checks, x.simple...)
}

// SQLSTATEs.
const (
	noTransaction      = "25P01" // no_active_sql_transaction
	abortedTransaction = "25P02" // in_failed_sql_transaction
)

// execKnown is exec for a row that probably exists: if a node of Galera does not find it, the
// node may be behind.
func (x session) execKnown(ctx context.Context, query string, args ...any) (changed bool, err error) {
	if changed, err = x.exec(ctx, query, args...); changed || err != nil || !x.galera {
		return changed, err
	}
	if err := x.catchUp(ctx); err != nil {
		return false, err
	}
	return x.exec(ctx, query, args...)
}

// change runs a statement, and reports whether it changed a row. If not, in PostgreSQL, it also finds
// out whether the gate was closed.
func (x session) change(ctx context.Context, query string, args ...any) (changed bool, err error) {
	query, args = x.bind(query, args)
	result, err := x.conn.ExecContext(ctx, query, args...)
	switch {
	case retry.SQLState(err) == abortedTransaction:
		return false, fmt.Errorf("%w: %w", errOpen, err)
	case x.cfg.Dialect == Postgres && readOnly(err):
		return false, fmt.Errorf("%w: it is a standby, or default_transaction_read_only is on for the session, the role or the database: set it off", err)
	case err != nil:
		return false, err
	}
	n, err := result.RowsAffected()
	if n == 0 && err == nil {
		err = x.refused(ctx)
	}
	return n > 0 && err == nil, err
}

// queryInteger returns the one value of a query.
func (x session) queryInteger(ctx context.Context, query string, args ...any) (n int64, err error) {
	query, args = x.bind(query, args)
	err = x.synced(ctx, func() error {
		err := x.conn.QueryRowContext(ctx, query, append(x.simple, args...)...).Scan(&n)
		return cmp.Or(ctx.Err(), err) // no row means nothing if the driver has skipped the query
	})
	return n, err
}

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

// snapshot is a namespace as one statement has read it.
type snapshot struct {
	now     int64          // the database's clock
	layout  sql.NullString // NULL: nothing was claimed here yet
	records []driver.Record
	open    bool // the session does not commit by itself, and is in a transaction now
}

// read reads a namespace. After a race, fresh makes MySQL read in a new transaction.
func (x session) read(ctx context.Context, namespace string, fresh bool) (found snapshot, err error) {
	look := func() (err error) {
		found, err = x.look(ctx, namespace)
		return err
	}
	if x.cfg.Dialect != MySQL || x.galera || fresh {
		err = x.synced(ctx, look)
	} else if err = look(); err == nil && found.open {
		// Without a transaction, which takes three round trips instead of one, a session without
		// autocommit is now in one. Another, which ends, ends it.
		err = inTransaction(ctx, x.conn, x.ended(reading), look)
	}
	if err != nil {
		return snapshot{}, fmt.Errorf("sqlstore: read namespace %q: %w", namespace, err)
	}
	return found, nil
}

// look runs the statement of read.
func (x session) look(ctx context.Context, namespace string) (found snapshot, err error) {
	query, args := x.bind(x.snapshot, []any{namespace, namespace})
	complete := false
	err = eachRow(ctx, x.conn, func(rows *sql.Rows) error {
		var layout sql.NullString
		var rec driver.Record
		err := rows.Scan(&layout, &rec.Worker, &rec.FencingToken, &rec.ClaimID, &rec.Owner, &rec.Fence, &rec.Expires)
		if rec.Worker >= 0 {
			found.records = append(found.records, rec)
		} else {
			complete, found.layout, found.now, found.open = true, layout, rec.Fence, rec.Expires == 0
		}
		return err
	}, query, append(x.simple, args...)...)
	if err == nil && !complete {
		err = errNoAnswer
	}
	if err != nil {
		return found, err
	}
	slices.SortFunc(found.records, func(a, b driver.Record) int { return cmp.Compare(a.Worker, b.Worker) })
	return found, nil
}
