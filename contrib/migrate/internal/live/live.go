// Package live has what packages migrate and backfill share: the errors of their configurations, the
// names of tables, and transactions that are tried again.
package live

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Errors is a list of the wrong fields of a configuration.
type Errors []core.FieldError

// Add appends the error of one field.
func (e *Errors) Add(field string, value any, reason string, args ...any) {
	*e = append(*e, core.FieldError{Field: field, Value: Quote(value), Reason: fmt.Sprintf(reason, args...)})
}

// Err returns a *core.ConfigError of the package, or nil if the list is empty.
func (e Errors) Err(pkg string) error {
	if len(e) == 0 {
		return nil
	}
	return &core.ConfigError{Package: pkg, Fields: e}
}

// Error returns a *core.ConfigError of the package for one field.
func Error(pkg, field string, value any, reason string, args ...any) error {
	var wrong Errors
	wrong.Add(field, value, reason, args...)
	return wrong.Err(pkg)
}

// Quote returns a value as errors show it: a string is quoted, and cut after 100 characters.
func Quote(value any) string {
	switch value := value.(type) {
	case nil:
		return "nil"
	case string:
		return fmt.Sprintf("%.100q", value)
	default:
		return fmt.Sprint(value)
	}
}

// MaxName is the longest name of PostgreSQL, in bytes. PostgreSQL truncates a longer one silently.
const MaxName = 63

// BadName returns what is wrong with the name of a table or a column, or nothing.
func BadName(name string) string {
	switch {
	case name == "":
		return "must not be empty"
	case !utf8.ValidString(name) || strings.ContainsAny(name, "?.\"`'\\$") || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unicode.IsControl):
		return "must be a name without dots, quotes, question marks, dollars, backslashes, control characters " +
			"and outer spaces"
	case len(name) > MaxName:
		return "must have at most 63 bytes"
	}
	return ""
}

// SplitTable returns the schema, if there is one, and the name.
func SplitTable(table string) (schema, name string) {
	if schema, name, ok := strings.Cut(table, "."); ok {
		return schema, name
	}
	return "", table
}

// Check adds the errors of the fields that both packages have, and returns the batch size with its default.
func (e *Errors) Check(table, column string, batch, defaultBatch int, pause time.Duration) int {
	schema, name := SplitTable(table)
	reason := BadName(name)
	if strings.Contains(table, ".") && reason == "" {
		reason = BadName(schema)
	}
	if reason != "" {
		e.Add("Table", table, "%s", reason)
	}
	if reason := BadName(column); column != "" && reason != "" {
		e.Add("Column", column, "%s", reason)
	}
	if pause < 0 {
		e.Add("Pause", pause, "must not be negative")
	}
	const most = 100_000
	if batch < 0 || batch > most {
		e.Add("BatchSize", batch, "must be 1 to %d, or 0 for %d", most, defaultBatch)
	}
	if batch == 0 {
		return defaultBatch
	}
	return batch
}

// attempts is how often a transaction is run that others undo.
const attempts = 10

// Retry runs f, again as long as its transaction is undone in favor of another.
func Retry(ctx context.Context, f func() error) error {
	for failures := 1; ; failures++ {
		err := f()
		if err == nil || !IsUndone(err) || failures == attempts {
			return err
		}
		if ended := Backoff(ctx, failures); ended != nil {
			return errors.Join(err, ended)
		}
	}
}

// Transact runs f in a transaction, again as long as it is undone in favor of another. db is a *sql.DB or a
// *sql.Conn.
func Transact(ctx context.Context, db beginner, f func(tx *sql.Tx) error) error {
	return Retry(ctx, func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f(tx); err != nil {
			_ = tx.Rollback() // its own error says less
			return err
		}
		return tx.Commit()
	})
}

type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// Backoff waits after a number of failures: at most 100ms, doubled after each, and at most 3s. Its error is
// ctx's, if that ends first.
func Backoff(ctx context.Context, failures int) error {
	const low, high, doublings = 50 * time.Millisecond, 3 * time.Second, 6
	d := min(low<<min(failures, doublings), high)
	return Sleep(ctx, d/2+rand.N(d/2+1))
}

// Sleep waits. Its error is ctx's, if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// SQLState returns the SQLSTATE of an error of PostgreSQL's drivers, or an empty string.
func SQLState(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	return ""
}

// undone matches the errors of MySQL and SQLite. MariaDB reports 1020 for a row that changed after the
// transaction looked, and MySQL 3101 for a COMMIT that lost to another server of the group. A text that quotes
// such a number from a value of the user does no harm: the transaction is run again.
var undone = regexp.MustCompile(`Error (1213|1020|3101)\b|database (table )?is locked|SQLITE_BUSY`)

// IsUndone reports whether a statement was undone in favor of another, or did not begin: a serialization
// failure, a deadlock, or a locked file.
func IsUndone(err error) bool {
	switch SQLState(err) {
	case "40001", "40P01":
		return true
	case "":
		return err != nil && undone.MatchString(err.Error())
	}
	return false
}
