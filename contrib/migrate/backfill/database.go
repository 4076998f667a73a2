package backfill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// database is the database of the tables.
type database struct {
	*sql.DB
	dialect ddl.Dialect
}

// quote quotes names that were checked.
func (db database) quote(names ...string) string {
	quoted, _ := db.dialect.Quote(names...) // the names were checked
	return quoted
}

// bind replaces each ? by PostgreSQL's $n. No name contains one.
func (db database) bind(query string) string {
	if db.dialect != ddl.Postgres {
		return query
	}
	parts := strings.Split(query, "?")
	for i := 1; i < len(parts); i++ {
		parts[i] = fmt.Sprintf("$%d%s", i, parts[i])
	}
	return strings.Join(parts, "")
}

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// change runs a statement that writes, and returns how many rows it has changed.
func (db database) change(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	result, err := tx.ExecContext(ctx, db.bind(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query runs a query, retries it after a conflict, and returns what scan makes of each row.
func query[T any](
	ctx context.Context, db database, scan func(rows *sql.Rows) (T, error), text string, args ...any,
) (found []T, err error) {
	read := func(q querier) error {
		found = nil // of the attempt before
		rows, err := q.QueryContext(ctx, db.bind(text), args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			row, err := scan(rows)
			if err != nil {
				return err
			}
			found = append(found, row)
		}
		return errors.Join(rows.Err(), rows.Close())
	}
	if db.dialect == ddl.MySQL { // a session with autocommit off would read the past, unless the transaction ends
		err = live.Transact(ctx, db, func(tx *sql.Tx) error { return read(tx) })
	} else {
		err = live.Retry(ctx, func() error { return read(db.DB) })
	}
	return found, err
}

// count returns the number that a query selects. An error names what was counted.
func (db database) count(ctx context.Context, what, text string, args ...any) (int64, error) {
	numbers, err := query(ctx, db, func(rows *sql.Rows) (n int64, err error) {
		return n, rows.Scan(&n)
	}, text, args...)
	if err != nil {
		return 0, fmt.Errorf("backfill: %s: %w", what, err)
	}
	return numbers[0], nil // an aggregate has one row
}
