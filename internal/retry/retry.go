// Package retry has what all retries of whole transactions share: how often, with which pauses,
// and after which errors.
package retry

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/backoff"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Limits are the fields of a configuration that has them under the same names.
type Limits struct {
	Attempts   int           // at most, including the first; zero: 5
	Backoff    time.Duration // the longest pause after the first attempt, doubled after each; zero: 10ms
	MaxBackoff time.Duration // the longest pause; zero: 1s
}

// Validate adds the fields that are negative to wrong. It returns the limits with the defaults.
func (l Limits) Validate(wrong *fields.Errors) Limits {
	if l.Attempts < 0 {
		wrong.Add("Attempts", l.Attempts, "must not be negative")
	}
	if l.Backoff < 0 {
		wrong.Add("Backoff", l.Backoff, "must not be negative")
	}
	if l.MaxBackoff < 0 {
		wrong.Add("MaxBackoff", l.MaxBackoff, "must not be negative")
	}
	return Limits{cmp.Or(l.Attempts, 5), cmp.Or(l.Backoff, 10*time.Millisecond), cmp.Or(l.MaxBackoff, time.Second)}
}

// Wait pauses after the given number of attempts. Its error is ctx's, if that ends first.
func (l Limits) Wait(ctx context.Context, attempts int) error {
	return backoff.Backoff{Min: l.Backoff, Max: l.MaxBackoff}.Wait(ctx, attempts)
}

// SQLState returns the SQLSTATE of an error of PostgreSQL's drivers, or an empty string.
func SQLState(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	return ""
}

// IsConflict reports whether PostgreSQL asks for the transaction to be run again: after a
// serialization failure or a deadlock.
func IsConflict(err error) bool {
	state := SQLState(err)
	return state == "40001" || state == "40P01"
}

// MySQLNumber returns the number of an error of go-sql-driver/mysql, or 0. The driver has it in a
// field, not in a method, and is not imported here. The text is not enough: it may quote a user's value.
func MySQLNumber(err error) uint16 {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			if n := MySQLNumber(e); n != 0 {
				return n
			}
		}
	}
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct && v.Type().Name() == "MySQLError" {
		if n := v.FieldByName("Number"); n.Kind() == reflect.Uint16 {
			return uint16(n.Uint())
		}
	}
	if err = errors.Unwrap(err); err != nil {
		return MySQLNumber(err)
	}
	return 0
}

var locked = regexp.MustCompile(`database (table )?is locked|SQLITE_BUSY`) // the drivers of SQLite have no type in common

// IsUndone is IsConflict for any driver of PostgreSQL, MySQL and SQLite: it reports whether the
// statement was undone in favor of another, or did not begin: a serialization failure, a deadlock,
// or a file or table that another connection has locked. MariaDB reports 1020 for a row that changed
// after the transaction looked, with innodb_snapshot_isolation, which is the default from 11.6 on. MySQL
// reports 3101 for a COMMIT that lost to another server of the group.
func IsUndone(err error) bool {
	if err == nil || SQLState(err) != "" {
		return IsConflict(err)
	}
	if n := MySQLNumber(err); n != 0 {
		return slices.Contains([]uint16{1213, 1020, 3101}, n)
	}
	return locked.MatchString(err.Error())
}
