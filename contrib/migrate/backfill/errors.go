package backfill

import (
	"errors"
	"fmt"
	"time"
)

// ErrRunning means that another backfill of the same column is running.
var ErrRunning = errors.New("backfill: another backfill of this column is running")

// A LeftError means that some rows still have no id at the end of Run, because they were written
// during the backfill or are newer than its start. Call Run again to fill them.
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
	left := "%d rows of %s have no id yet: they were"
	if e.Rows == 1 {
		left = "%d row of %s has no id yet: it was"
	}
	return fmt.Sprintf("backfill: "+left+" written, or created, after the backfill began; the oldest has the key %s and was created at %s: %s", e.Rows, e.Table, e.Key, show(e.Made), advice)
}

// A RowError means that a row has no usable creation time, or one before the layout's epoch,
// or no key, as SQLite allows.
type RowError struct {
	Table, Column string
	Key           string
	Value         string // empty: NULL, or a value that is not a time
	Reason        string
}

func (e *RowError) Error() string {
	value := "NULL or not a time"
	if e.Value != "" {
		value = e.Value
	}
	return fmt.Sprintf("backfill: %s, row with the key %s: %s is %s: %s", e.Table, e.Key, e.Column, value, e.Reason)
}

func show(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// ReferenceError is returned by Run if rows have in NewColumn an id that differs from the id of the row
// that Column refers to. Either a program has changed Column, or deleted that row, since NewColumn
// was filled; or a backfill of another column has filled it. Set NewColumn to NULL in these rows,
// or in all, and run again.
type ReferenceError struct {
	Table, Column, NewColumn string
	Rows                     int64
}

func (e *ReferenceError) Error() string {
	have := "%d rows of %s have"
	if e.Rows == 1 {
		have = "%d row of %s has"
	}
	return fmt.Sprintf("backfill: "+have+" in %s an id that differs from the id of the row that %s refers to now: set %s to NULL there, and run it again", e.Rows, e.Table, e.NewColumn, e.Column, e.NewColumn)
}
