package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/backoff"
)

// maxRaces is how often a row may be found changed by another client.
const maxRaces = 200

// repeat calls try until it is ok, or fails with something else than a conflict
// with another transaction, of which nothing has remained.
func repeat(ctx context.Context, try func() (ok bool, err error)) error {
	races := 0
	return backoff.Backoff{Min: 2 * time.Millisecond, Max: 20 * time.Millisecond}.Retry(ctx, func() (done bool, err error) {
		ok, err := try()
		if err != nil && !conflict(err) || err == nil && ok {
			return true, err
		}
		if races++; races < maxRaces {
			return false, nil
		}
		if err == nil {
			err = fmt.Errorf("sqlstore: the row was changed by others %d times", races)
		}
		return false, err
	})
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
