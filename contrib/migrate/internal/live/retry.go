package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

// Attempts is how often a transaction is run that others undo.
const Attempts = 10

// Pause waits after a number of failures: at most low, doubled after each, and at most high. Its
// error is ctx's, if that ends first.
func Pause(ctx context.Context, failures int, low, high time.Duration) error {
	d := low
	for ; failures > 1 && d < high; failures-- {
		d *= 2
	}
	d = min(d, high)
	return Sleep(ctx, d/2+rand.N(d/2+1))
}

// Sleep waits. Its error is ctx's, if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Retry runs f, again as long as its transaction is undone in favor of another.
func Retry(ctx context.Context, f func() error) error {
	const low, high = 20 * time.Millisecond, 2 * time.Second
	for attempt := 1; ; attempt++ {
		err := f()
		if err == nil || !IsUndone(err) || attempt == Attempts {
			return err
		}
		if waited := Pause(ctx, attempt, low, high); waited != nil {
			return errors.Join(err, waited)
		}
	}
}

// SQLState returns the SQLSTATE of an error of PostgreSQL's drivers, or an empty string.
func SQLState(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	return ""
}

// IsUndone reports whether a statement was undone in favor of another, or did not begin: a
// serialization failure, a deadlock, or a locked file. MariaDB reports 1020 for a row that changed
// after the transaction looked.
func IsUndone(err error) bool {
	switch SQLState(err) {
	case "40001", "40P01":
		return true
	case "":
	default:
		return false
	}
	for _, part := range []string{"Error 1213", "Error 1020", "database is locked", "SQLITE_BUSY"} {
		if err != nil && strings.Contains(err.Error(), part) {
			return true
		}
	}
	return false
}
