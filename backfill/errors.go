package backfill

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoWorkerID means that all worker IDs of the namespace were leased before, so that none
	// has a past in which nobody has issued ids.
	ErrNoWorkerID = errors.New("backfill: every worker ID of the namespace was leased before")
	// ErrRunning means that another backfill has written to the same column meanwhile.
	ErrRunning = errors.New("backfill: another backfill of this column is running")
)

// A LeftError is returned by Run if rows are left without an id at its end, because they were
// written during the backfill, or are newer than its beginning. Run again to fill them.
type LeftError struct {
	Table string
	Rows  int64
	Key   string    // of the oldest of them
	Made  time.Time // when it was made
}

func (e *LeftError) Error() string {
	advice := "run it again"
	if e.Made.After(time.Now()) {
		advice = "that is in the future: correct it"
	}
	left := fmt.Sprintf("%d rows of %s are left, which were", e.Rows, e.Table)
	if e.Rows == 1 {
		left = fmt.Sprintf("1 row of %s is left, which was", e.Table)
	}
	return fmt.Sprintf("backfill: %s written or made since the backfill began; the oldest has the key %s and was made at %s: %s", left, e.Key, show(e.Made), advice)
}

// A RowError means that a row has no usable time, or one before the layout's epoch.
type RowError struct {
	Table, Column string
	Key           string
	Value         string // empty: NULL, or another value that is no time
	Reason        string
}

func (e *RowError) Error() string {
	value := "NULL or no time"
	if e.Value != "" {
		value = e.Value
	}
	return fmt.Sprintf("backfill: %s of the row of %s with the key %s is %s: %s", e.Column, e.Table, e.Key, value, e.Reason)
}

func show(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
