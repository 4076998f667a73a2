package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// querier is a *sql.Conn or a *sql.Tx.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// alone calls f, which is one statement, and commits it. A session of MySQL may
// have autocommit off, by its DSN, init_connect or the server's default: then a
// write in no transaction is never committed, and a read is of the past. The other
// databases have no such setting.
func (s *Store) alone(ctx context.Context, d Dialect, f func(querier) error) error {
	return s.onConnection(ctx, func(conn *sql.Conn) error {
		if d != MySQL {
			return f(conn)
		}
		return inTransaction(ctx, conn, f)
	})
}

// caughtUp is alone, at a node of a Galera cluster that has applied what all others had
// committed before: each applies it in its own time, and would not know of a claim that
// another one has just answered. Safety does not hang on it, for a node that is behind is
// found out when it commits.
func (s *Store) caughtUp(ctx context.Context, st *statements, f func(querier) error) error {
	if !st.galera {
		return s.alone(ctx, st.cfg.Dialect, f)
	}
	return s.onConnection(ctx, func(conn *sql.Conn) error {
		var one int
		if err := conn.QueryRowContext(ctx, catchUp).Scan(&one); err != nil { // before the transaction: within one there is no waiting
			return fmt.Errorf("wait for this node to catch up with its cluster: %w", err)
		}
		return inTransaction(ctx, conn, f)
	})
}

const catchUp = "SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1"

// galera reports whether it is a node of a cluster that can be waited for: MariaDB's
// only, others do not know the statement.
func (s *Store) galera(ctx context.Context, d Dialect) (on bool, err error) {
	if d != MySQL {
		return false, nil
	}
	shown, err := s.setting(ctx, d, "SELECT @@wsrep_on = 1 AND VERSION() LIKE '%MariaDB%'", &on)
	if err != nil {
		return false, fmt.Errorf("sqlstore: ask whether it is a node of a cluster: %w", err)
	}
	return on && shown, nil // others have no such variable
}

func inTransaction(ctx context.Context, conn *sql.Conn, f func(querier) error) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // its own error says less; a connection it fails on is closed
		return err
	}
	return tx.Commit()
}

// exec reports whether a row was changed.
func (s *Store) exec(ctx context.Context, st *statements, query string, args ...any) (changed bool, err error) {
	return s.execIn(ctx, func(f func(querier) error) error { return s.alone(ctx, st.cfg.Dialect, f) }, query, args...)
}

// execKnown is exec for a row that the caller has reason to think is there.
func (s *Store) execKnown(ctx context.Context, st *statements, query string, args ...any) (changed bool, err error) {
	if changed, err = s.exec(ctx, st, query, args...); changed || err != nil || !st.galera {
		return changed, err
	}
	return s.execIn(ctx, func(f func(querier) error) error { return s.caughtUp(ctx, st, f) }, query, args...)
}

func (s *Store) execIn(ctx context.Context, in func(func(querier) error) error, query string, args ...any) (changed bool, err error) {
	err = repeat(ctx, func() (bool, error) {
		return true, in(func(q querier) (err error) {
			changed, err = change(ctx, q, query, args...)
			return err
		})
	})
	return changed && err == nil, err
}

// change reports whether a statement changed a row.
func change(ctx context.Context, q querier, query string, args ...any) (changed bool, err error) {
	result, err := q.ExecContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0 && err == nil, err
}

// row gives what scans the one row of a query.
func (s *Store) row(ctx context.Context, st *statements, query string, args ...any) func(dest ...any) error {
	return func(dest ...any) error {
		return repeat(ctx, func() (bool, error) {
			return true, s.caughtUp(ctx, st, func(q querier) error { return q.QueryRowContext(ctx, query, args...).Scan(dest...) })
		})
	}
}

// snapshot is a space as one statement has read it.
type snapshot struct {
	now    int64          // the database's clock
	layout sql.NullString // NULL: nothing was claimed here yet
	rows   []driver.Record
	open   bool // the session does not commit by itself, and is in a transaction now
}

// read reads a space, by number. If a number has changed meanwhile, it reads again, in a
// transaction that begins then.
func (s *Store) read(ctx context.Context, st *statements, space string, care bool) (found snapshot, err error) {
	err = repeat(ctx, func() (bool, error) { // a serializable read may be undone as well
		look := func(q querier) (err error) {
			found, err = st.read(ctx, q, space)
			return err
		}
		if st.cfg.Dialect != MySQL || st.galera || care {
			return true, s.caughtUp(ctx, st, look)
		}
		return true, s.atOnce(ctx, func(q querier) (bool, error) {
			err := look(q)
			return err == nil && !found.open, err
		})
	})
	if err != nil {
		return snapshot{}, fmt.Errorf("sqlstore: read space %q: %w", space, err)
	}
	return found, nil
}

// atOnce reads without a transaction, in one round trip; alone takes three. In a session
// without autocommit the read opens a transaction: then atOnce reads again, in a transaction
// that ends.
func (s *Store) atOnce(ctx context.Context, f func(querier) (ok bool, err error)) error {
	return s.onConnection(ctx, func(conn *sql.Conn) error {
		if ok, err := f(conn); ok || err != nil {
			return err
		}
		return inTransaction(ctx, conn, func(q querier) error { // which ends the other one
			_, err := f(q)
			return err
		})
	})
}

// read is the statement. It has no arguments in MySQL, where a driver would prepare it, by
// one more round trip. The name of a space cannot end a literal, see worker.CheckNamespace.
func (st *statements) read(ctx context.Context, q querier, space string) (found snapshot, err error) {
	query, args := st.snapshot, []any{space, space}
	if st.cfg.Dialect == MySQL {
		query, args = strings.ReplaceAll(query, "?", "'"+space+"'"), nil
	}
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return found, err
	}
	defer rows.Close()
	own := false
	for rows.Next() {
		var layout sql.NullString
		var row driver.Record
		if err := rows.Scan(&layout, &row.Worker, &row.FencingToken, &row.ClaimID, &row.Owner, &row.Fence, &row.Expires); err != nil {
			return found, err
		}
		if row.Worker >= 0 {
			found.rows = append(found.rows, row)
			continue
		}
		own, found.layout, found.now, found.open = true, layout, row.Fence, row.Expires == 0
	}
	if err := rows.Err(); err != nil {
		return found, err
	}
	if !own {
		return found, errors.New("the answer lacks the database's clock")
	}
	slices.SortFunc(found.rows, func(a, b driver.Record) int { return cmp.Compare(a.Worker, b.Worker) })
	return found, nil
}
