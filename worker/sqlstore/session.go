package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// querier is a *sql.DB or a *sql.Tx.
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
	if d != MySQL {
		return f(s.db)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return within(tx, f)
}

// caughtUp is alone, at a node of a Galera cluster that has applied what all others had
// committed before: each applies it in its own time, and would not know of a claim that
// another one has just answered. Safety does not hang on it, for a node that is behind is
// found out when it commits.
func (s *Store) caughtUp(ctx context.Context, st *statements, f func(querier) error) error {
	if !st.galera {
		return s.alone(ctx, st.dialect, f)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var one int
	if err := conn.QueryRowContext(ctx, catchUp).Scan(&one); err != nil { // before the transaction: within one there is no waiting
		return fmt.Errorf("wait for this node to catch up with its cluster: %w", err)
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return within(tx, f)
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

func within(tx *sql.Tx, f func(querier) error) error {
	if err := f(tx); err != nil {
		_ = tx.Rollback() // its own error says less; a connection it fails on is closed
		return err
	}
	return tx.Commit()
}

// exec reports whether a row was changed.
func (s *Store) exec(ctx context.Context, st *statements, query string, args ...any) (changed bool, err error) {
	return s.execIn(ctx, func(f func(querier) error) error { return s.alone(ctx, st.dialect, f) }, query, args...)
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
		return true, in(func(q querier) error {
			result, err := q.ExecContext(ctx, query, args...)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			changed = n > 0
			return err
		})
	})
	return changed && err == nil, err
}

// row gives what scans the one row of a query.
func (s *Store) row(ctx context.Context, st *statements, query string, args ...any) func(dest ...any) error {
	return func(dest ...any) error {
		return repeat(ctx, func() (bool, error) {
			return true, s.caughtUp(ctx, st, func(q querier) error { return q.QueryRowContext(ctx, query, args...).Scan(dest...) })
		})
	}
}

// rows reads the rows of a space.
func (s *Store) rows(ctx context.Context, st *statements, space string) (rows []worker.Row, err error) {
	err = repeat(ctx, func() (bool, error) { // a serializable read may be undone as well
		rows = nil
		return true, s.caughtUp(ctx, st, func(q querier) error {
			found, err := q.QueryContext(ctx, st.rows, space)
			if err != nil {
				return err
			}
			defer found.Close()
			for found.Next() {
				var row worker.Row
				if err := found.Scan(&row.Worker, &row.Epoch, &row.Token, &row.Owner, &row.Until, &row.Expires); err != nil {
					return err
				}
				rows = append(rows, row)
			}
			return found.Err()
		})
	})
	if err != nil {
		return nil, fmt.Errorf("sqlstore: list space %q: %w", space, err)
	}
	return rows, nil
}
