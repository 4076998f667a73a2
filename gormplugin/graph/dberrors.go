package graph

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
)

// No driver is imported here. What an error says is read from the methods and the text of the
// drivers' errors.

// isConflict reports whether the database asks for the transaction to be run again: after a
// deadlock, a serialization failure, a row that MariaDB finds changed since the first look (1020),
// and a COMMIT that another server of a MySQL group has forestalled (3101). It is false for a lock
// that was not granted in the time that the caller has set.
func isConflict(dialect string, err error) bool {
	switch dialect {
	case "mysql":
		if isMySQL(err, 1213, 1020, 3101) {
			return true
		}
	case "sqlite":
		return isLocked(err)
	}
	const aborted = "25P02" // by an earlier error, which a hook has kept to itself
	return retry.IsConflict(err) || retry.SQLState(err) == aborted
}

// isRefused reports whether the error of a COMMIT says that nothing was committed: the server
// refused it, or it was never sent.
func isRefused(dialect string, err error) bool {
	if errors.Is(err, sql.ErrTxDone) {
		return true
	}
	if s := retry.SQLState(err); s != "" {
		// A connection that was lost says nothing of the outcome: 08 and 57P.
		return len(s) == 5 && s[:2] != "08" && s[:3] != "57P" && s != "40003"
	}
	const constraint = 19
	return isConflict(dialect, err) || dialect == "sqlite" && sqliteCode(err) == constraint
}

// savepointLost reports whether a savepoint does not exist because the server has rolled back the
// whole transaction: MySQL after a deadlock, MariaDB also after error 1020.
func savepointLost(err, rollback error) bool {
	return isMySQL(rollback, 1305) && isMySQL(err, 1213, 1020)
}

// sqliteCode returns SQLite's primary result code, or 0.
func sqliteCode(err error) int {
	var code interface{ Code() int }
	if errors.As(err, &code) {
		return code.Code() & 0xff
	}
	return 0
}

// isLocked reports whether another connection has locked SQLite's file, or a table of a shared
// cache. One driver has the code in a field; its errors are recognized by their text.
func isLocked(err error) bool {
	const busy, locked = 5, 6
	if code := sqliteCode(err); code != 0 {
		return code == busy || code == locked
	}
	text := err.Error()
	return strings.Contains(text, "database is locked") || strings.Contains(text, "database table is locked")
}

// isMySQL reports whether the server's error has one of the numbers, with which its text begins.
func isMySQL(err error, numbers ...int) bool {
	switch e := err.(type) { //nolint:errorlint // it unwraps
	case interface{ Unwrap() error }:
		return isMySQL(e.Unwrap(), numbers...)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(one error) bool { return isMySQL(one, numbers...) })
	case nil:
		return false
	}
	var got int
	_, e := fmt.Sscanf(err.Error(), "Error %d", &got)
	return e == nil && slices.Contains(numbers, got)
}
