package sqlstore

import (
	"regexp"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The drivers of PostgreSQL report an SQLSTATE. Those of MySQL and SQLite are recognized by
// their texts, since this package does not import them.

func hasText(err error, texts ...string) bool {
	return err != nil && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(err.Error(), text) })
}

var (
	// A login or a right is refused; a database, schema, table or column is missing.
	permanentStates = []string{"28000", "28P01", "42501", "3D000", "3F000", "42P01", "42703"}
	// The same of MySQL and SQLite; and a pool that was closed, of database/sql and pgxpool.
	permanentText = regexp.MustCompile(`\bError (1044|1045|1049|1054|1142|1146)\b|\bno such (table|column)\b|\bunable to open database file\b|\breadonly database\b|\bsql: database is closed$|\bclosed pool$`)
	deniedText    = regexp.MustCompile(`\bError (1044|1142)\b`)
	noTableText   = regexp.MustCompile(`\bError 1146\b|\b42S02\b`)
)

// markPermanent marks errors that last until somebody changes the database or how it is opened.
// A database that is starting, or full, is not one of them.
func markPermanent(err error) error {
	if err != nil && (slices.Contains(permanentStates, retry.SQLState(err)) || permanentText.MatchString(err.Error())) {
		return driver.Permanent(err)
	}
	return err
}

// denied reports whether the role lacks a right.
func denied(err error) bool {
	if state := retry.SQLState(err); state != "" || err == nil {
		return state == "42501"
	}
	return deniedText.MatchString(err.Error())
}

// readOnly reports whether the database takes no writes, or none on this connection.
func readOnly(err error) bool {
	if state := retry.SQLState(err); state != "" {
		return state == "25006"
	}
	return hasText(err, "Error 1290", "Error 1792", "Error 1836")
}

// unknownVariable reports whether the error is MySQL's for a variable that does not exist.
func unknownVariable(err error) bool { return hasText(err, "Error 1193") }

// unknown reports whether PostgreSQL's error is for a function, a setting, a table or a column that
// does not exist, as in a database that is only compatible with it.
func unknown(err error) bool {
	return slices.Contains([]string{"42883", "42704", "42P01", "42703"}, retry.SQLState(err))
}
