package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// querier is a *sql.Conn or a *sql.Tx.
type querier interface {
	Tx
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// retrySwap is driver.Retry, which also repeats what a conflict has undone.
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

// commit is single, repeated while a conflict undoes it.
func (s *Store) commit(ctx context.Context, st *statements, f func(querier) error) error {
	return retrySwap(ctx, func() (bool, error) { return true, s.single(ctx, st.cfg.Dialect, f) })
}

// commitSynced is synced, repeated while a conflict undoes it.
func (s *Store) commitSynced(ctx context.Context, st *statements, f func(querier) error) error {
	return retrySwap(ctx, func() (bool, error) { return true, s.synced(ctx, st, f) })
}

// single calls f, which runs one statement, and commits it. A session of MySQL may have
// autocommit off, by its DSN, init_connect or the server's default. Outside a transaction, its
// writes would then never be committed, and its reads be of the past. The other databases have
// no such setting.
func (s *Store) single(ctx context.Context, d Dialect, f func(querier) error) error {
	return s.onConnection(ctx, func(conn *sql.Conn) error {
		if d != MySQL {
			return f(conn)
		}
		return inTransaction(ctx, conn, f)
	})
}

// synced is single on a node of a Galera cluster that has applied what other nodes had committed
// before. A node applies that in its own time, and might not know of a claim that another node
// has just acknowledged. Uniqueness does not depend on it: the commit of a node that is behind
// fails.
func (s *Store) synced(ctx context.Context, st *statements, f func(querier) error) error {
	if !st.galera {
		return s.single(ctx, st.cfg.Dialect, f)
	}
	return s.onConnection(ctx, func(conn *sql.Conn) error {
		var one int
		if err := conn.QueryRowContext(ctx, syncWait).Scan(&one); err != nil { // a transaction would not wait
			return fmt.Errorf("wait for this node to catch up with its cluster: %w", err)
		}
		return inTransaction(ctx, conn, f)
	})
}

const syncWait = "SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1"

func inTransaction(ctx context.Context, conn *sql.Conn, f func(querier) error) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // its own error says less; a connection that it fails on is closed
		return err
	}
	return tx.Commit()
}

// exec runs a statement, and reports whether it changed a row.
func (s *Store) exec(ctx context.Context, st *statements, query string, args ...any) (changed bool, err error) {
	err = s.commit(ctx, st, func(q querier) (err error) {
		changed, err = change(ctx, q, query, args...)
		return err
	})
	return changed && err == nil, err
}

// execKnown is exec for a row that probably exists: if a node of Galera does not find it, the
// node may be behind.
func (s *Store) execKnown(ctx context.Context, st *statements, query string, args ...any) (changed bool, err error) {
	if changed, err = s.exec(ctx, st, query, args...); changed || err != nil || !st.galera {
		return changed, err
	}
	err = s.commitSynced(ctx, st, func(q querier) (err error) {
		changed, err = change(ctx, q, query, args...)
		return err
	})
	return changed && err == nil, err
}

// change runs a statement, and reports whether it changed a row.
func change(ctx context.Context, q querier, query string, args ...any) (changed bool, err error) {
	result, err := q.ExecContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0 && err == nil, err
}

// queryInteger returns the one value of a query.
func (s *Store) queryInteger(ctx context.Context, st *statements, query string, args ...any) (n int64, err error) {
	err = s.commitSynced(ctx, st, func(q querier) error { return q.QueryRowContext(ctx, query, args...).Scan(&n) })
	return n, err
}

// eachRow runs a query, and calls scan for each row. It reads to the end: a row may come before
// the commit, and the error of the commit after the row.
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
	if err := rows.Err(); err != nil {
		return err
	}
	return rows.Close()
}

// snapshot is a namespace as one statement has read it.
type snapshot struct {
	now     int64          // the database's clock
	layout  sql.NullString // NULL: nothing was claimed here yet
	records []driver.Record
	open    bool // the session does not commit by itself, and is in a transaction now
}

// read reads a namespace. After a race, fresh makes MySQL read in a new transaction.
func (s *Store) read(ctx context.Context, st *statements, namespace string, fresh bool) (found snapshot, err error) {
	err = retrySwap(ctx, func() (bool, error) { // a serializable read may be undone as well
		look := func(q querier) (err error) {
			found, err = st.read(ctx, q, namespace)
			return err
		}
		if st.cfg.Dialect != MySQL || st.galera || fresh {
			return true, s.synced(ctx, st, look)
		}
		// One round trip instead of the three of a transaction. In a session without autocommit the
		// read opens a transaction; then it is repeated in one that ends.
		return true, s.onConnection(ctx, func(conn *sql.Conn) error {
			if err := look(conn); err != nil || !found.open {
				return err
			}
			return inTransaction(ctx, conn, look) // which ends the other one
		})
	})
	if err != nil {
		return snapshot{}, fmt.Errorf("sqlstore: read namespace %q: %w", namespace, err)
	}
	return found, nil
}

// read runs the statement. In MySQL it has no arguments, with which a driver would prepare it in
// one more round trip. A namespace cannot end a literal, see driver.CheckNamespace.
func (st *statements) read(ctx context.Context, q querier, namespace string) (found snapshot, err error) {
	query, args := st.snapshot, []any{namespace, namespace}
	if st.cfg.Dialect == MySQL {
		query, args = strings.ReplaceAll(query, "?", "'"+namespace+"'"), nil
	}
	complete := false
	err = eachRow(ctx, q, func(rows *sql.Rows) error {
		var layout sql.NullString
		var rec driver.Record
		err := rows.Scan(&layout, &rec.Worker, &rec.FencingToken, &rec.ClaimID, &rec.Owner, &rec.Fence, &rec.Expires)
		if rec.Worker >= 0 {
			found.records = append(found.records, rec)
		} else {
			complete, found.layout, found.now, found.open = true, layout, rec.Fence, rec.Expires == 0
		}
		return err
	}, query, args...)
	if err == nil && !complete {
		err = errors.New("the answer lacks the database's clock")
	}
	if err != nil {
		return found, err
	}
	slices.SortFunc(found.records, func(a, b driver.Record) int { return cmp.Compare(a.Worker, b.Worker) })
	return found, nil
}
