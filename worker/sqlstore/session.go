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
	if err := f(tx); err != nil {
		_ = tx.Rollback() // its own error says less; a connection it fails on is closed
		return err
	}
	return tx.Commit()
}

// exec reports whether a row was changed.
func (s *Store) exec(ctx context.Context, st *statements, query string, args ...any) (changed bool, err error) {
	err = repeat(ctx, func() (bool, error) {
		return true, s.alone(ctx, st.dialect, func(q querier) error {
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
		return s.alone(ctx, st.dialect, func(q querier) error { return q.QueryRowContext(ctx, query, args...).Scan(dest...) })
	}
}

// rows reads the rows of a space.
func (s *Store) rows(ctx context.Context, st *statements, space string) (rows []worker.Row, err error) {
	err = s.alone(ctx, st.dialect, func(q querier) error {
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
	if err != nil {
		return nil, fmt.Errorf("sqlstore: list space %q: %w", space, err)
	}
	return rows, nil
}
