package backfill

import (
	"fmt"
	"time"
)

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
	return fmt.Sprintf("backfill: rows of %s without an id: %d, written or created after the backfill began; "+
		"the oldest has the key %s and was created at %s: %s", e.Table, e.Rows, e.Key, show(e.Made), advice)
}

// A RowError means that a row has no usable creation time, or one before the layout's epoch,
// or no key, as SQLite allows.
type RowError struct {
	Table, Column string
	Key           string
	Value         string // such as "NULL or not a time"
	Reason        string
}

func (e *RowError) Error() string {
	return fmt.Sprintf("backfill: %s, row with the key %s: %s is %s: %s", e.Table, e.Key, e.Column, e.Value, e.Reason)
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
	return fmt.Sprintf("backfill: rows of %s whose %s differs from the id of the row that %s refers to now: %d; "+
		"set it to NULL there, and run it again", e.Table, e.NewColumn, e.Column, e.Rows)
}
