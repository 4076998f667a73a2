package pgxtype

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrOutcomeUnknown is wrapped by the error of a COMMIT that was sent and not answered: the
// database has all rows, or none. If keys were assigned beforehand, look one of them up, or
// write the same rows again: the primary key refuses them if they exist.
var ErrOutcomeUnknown = errors.New("COMMIT was sent and its outcome is unknown")

// LoadError names the row that made [Load] fail, as far as it is known. The database has nothing
// of the load.
type LoadError struct {
	Table  pgx.Identifier // as in the Table
	Row    int64          // counted from 0 over all rows of the table in this load; -1 if not known
	Parent int64          // the row's parent, counted from 0 in the sequence; -1 if not known
	Column string         // empty if not known
	Err    error          // a *pgconn.PgError, an error of sqltype, or the sequence's own
}

// Error names the table, the row and the column, and adds PostgreSQL's detail, which often has
// the key.
func (e *LoadError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pgxtype: load %s", e.Table.Sanitize())
	if e.Row >= 0 {
		fmt.Fprintf(&b, ": row %d", e.Row)
		if e.Parent >= 0 {
			fmt.Fprintf(&b, " of parent %d", e.Parent)
		}
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ": column %q", e.Column)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	var pg *pgconn.PgError
	if errors.As(e.Err, &pg) && pg.Detail != "" {
		fmt.Fprintf(&b, ": %s", pg.Detail)
	}
	return b.String()
}

// Unwrap returns Err.
func (e *LoadError) Unwrap() error { return e.Err }

// atCommit adds the table to the error of a deferred constraint, if only one of the tables
// matches.
func atCommit(err error, tables []pgx.Identifier) error {
	var known *LoadError
	var pg *pgconn.PgError
	if errors.As(err, &known) || !errors.As(err, &pg) {
		return err
	}
	var found pgx.Identifier
	for _, name := range tables {
		if !means(name, pg) {
			continue
		}
		if found != nil && !slices.Equal(found, name) {
			found = nil
			break
		}
		found = name
	}
	if found != nil {
		return &LoadError{Table: found, Row: -1, Parent: -1, Column: pg.ColumnName, Err: err}
	}
	if pg.Detail != "" {
		return fmt.Errorf("%w: %s", err, pg.Detail)
	}
	return err
}

// means reports whether PostgreSQL's error may be about the table of that name.
func means(name pgx.Identifier, pg *pgconn.PgError) bool {
	n := len(name)
	return pg.TableName != "" && name[n-1] == pg.TableName && (n == 1 || pg.SchemaName == "" || name[n-2] == pg.SchemaName)
}
