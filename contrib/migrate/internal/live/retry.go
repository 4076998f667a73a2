package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
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

// mysqlNumber returns the number of an error of go-sql-driver/mysql, or 0. The driver has it in a field and
// in no method, and is not imported here. The text would not do: it may quote a value of the user.
func mysqlNumber(err error) uint64 {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			if n := mysqlNumber(e); n != 0 {
				return n
			}
		}
	}
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct && v.Type().Name() == "MySQLError" {
		if n := v.FieldByName("Number"); n.Kind() == reflect.Uint16 {
			return n.Uint()
		}
	}
	if err = errors.Unwrap(err); err != nil {
		return mysqlNumber(err)
	}
	return 0
}

var locked = regexp.MustCompile(`database (table )?is locked|SQLITE_BUSY`) // the drivers of SQLite have no type in common

// IsUndone reports whether a statement was undone in favor of another, or did not begin: a
// serialization failure, a deadlock, or a locked file. MariaDB reports 1020 for a row that changed
// after the transaction looked, and MySQL 3101 for a COMMIT that lost to another server of the group.
func IsUndone(err error) bool {
	switch SQLState(err) {
	case "40001", "40P01":
		return true
	case "":
	default:
		return false
	}
	if n := mysqlNumber(err); n != 0 {
		return slices.Contains([]uint64{1213, 1020, 3101}, n)
	}
	return err != nil && locked.MatchString(err.Error())
}
