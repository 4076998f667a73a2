package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// maxRaces is how often a row may be found changed by another client.
const maxRaces = 200

// repeat calls try until it is ok, or fails with something else than a conflict
// with another transaction, of which nothing has remained.
func repeat(ctx context.Context, try func() (ok bool, err error)) error {
	var last error
	for races := range maxRaces {
		ok, err := try()
		switch {
		case err != nil && !conflict(err):
			return err
		case err == nil && ok:
			return nil
		}
		last = err
		select { // so that those who meet do not meet again
		case <-time.After(time.Duration(rand.Int64N(int64(min(races+1, 10)) * int64(time.Millisecond)))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if last != nil {
		return last
	}
	return fmt.Errorf("sqlstore: %d times the row was changed by others", maxRaces)
}

// conflict reports whether the statement was undone for the sake of another, or
// did not begin: a serialization failure or a deadlock, in PostgreSQL's drivers by
// SQLSTATE, in MySQL's by its text; a locked file, in SQLite's by its text. MariaDB says
// 1020 for a row that was changed since the transaction looked, where
// innodb_snapshot_isolation is on, as it is by default from 11.6 on.
func conflict(err error) bool {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState() == "40001" || state.SQLState() == "40P01"
	}
	text := err.Error()
	return strings.Contains(text, "Error 1213") || strings.Contains(text, "Error 1020") || strings.Contains(text, "database is locked") || strings.Contains(text, "SQLITE_BUSY")
}
