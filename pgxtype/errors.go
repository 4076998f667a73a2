package pgxtype

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrOutcomeUnknown is returned, wrapped, when COMMIT was sent and its answer
// never came: the rows may be there, all of them, or none. Keys that were
// assigned beforehand settle it: look one of them up, or write the same rows
// again, which the primary key refuses if they are there.
var ErrOutcomeUnknown = errors.New("COMMIT was sent and its outcome is unknown")

// A LoadError says which row of which table made [Load] fail, as far as that is
// known. Nothing of the load is in the database.
type LoadError struct {
	Table  pgx.Identifier // as in the Table
	Row    int64          // counted from 0 over all rows of the table in this load; -1 if not known
	Parent int64          // the master it belongs to, counted from 0 in the sequence; -1 if not known
	Column string         // empty if not known
	Err    error          // what is wrong: a *pgconn.PgError, sqltype's, the sequence's own
}

// Error names the table, the row and the column, and adds PostgreSQL's detail,
// which often holds the key.
func (e *LoadError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pgxtype: load %s", e.Table.Sanitize())
	if e.Row >= 0 {
		fmt.Fprintf(&b, ": row %d", e.Row)
		if e.Parent >= 0 {
			fmt.Fprintf(&b, " of master %d", e.Parent)
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

// detailError adds PostgreSQL's detail, which often holds a key, to an error whose
// table is not known.
type detailError struct {
	err    error
	detail string
}

func (e *detailError) Error() string { return e.err.Error() + ": " + e.detail }
func (e *detailError) Unwrap() error { return e.err }

// atCommit names the table in the error of a constraint that was deferred, if
// the error can mean one of these only.
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
		return &detailError{err, pg.Detail}
	}
	return err
}

// means reports whether PostgreSQL's error may be about the table of that name.
func means(name pgx.Identifier, pg *pgconn.PgError) bool {
	n := len(name)
	return pg.TableName != "" && name[n-1] == pg.TableName && (n == 1 || pg.SchemaName == "" || name[n-2] == pg.SchemaName)
}

// isNil reports whether there is nothing in v, or a nil pointer.
func isNil(v any) bool {
	value := reflect.ValueOf(v)
	return v == nil || value.Kind() == reflect.Pointer && value.IsNil()
}

// faults are all that is wrong with a configuration, in one error.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (f faults) err(what string) error {
	if len(f) == 0 {
		return nil
	}
	return fmt.Errorf("pgxtype: %s: %s", what, strings.Join(f, "; "))
}
