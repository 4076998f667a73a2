package sqlstore

import (
	"errors"
	"regexp"
	"slices"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var (
	// Who may log in, and do what; and which database, schema, table or column is missing.
	lastingStates = []string{"28000", "28P01", "42501", "3D000", "3F000", "42P01", "42703"}
	// The same, as MySQL's and SQLite's drivers put it; and a pool that was closed, as database/sql and pgxpool do.
	lastingText = regexp.MustCompile(`\bError (1044|1045|1049|1054|1142|1146)\b|\bno such (table|column)\b|\bunable to open database file\b|\breadonly database\b|\bsql: database is closed$|\bclosed pool$`)
)

// lasting marks what a database goes on answering until somebody has changed
// something in it or in what it is opened with. One that is starting, or full, is
// none of it.
func lasting(err error) error {
	if err == nil {
		return nil
	}
	var state interface{ SQLState() string }
	if errors.As(err, &state) && slices.Contains(lastingStates, state.SQLState()) || lastingText.MatchString(err.Error()) {
		return driver.Permanent(err)
	}
	return err
}
