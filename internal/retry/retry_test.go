package retry

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

func TestLimits(t *testing.T) {
	var wrong fields.Errors
	if got, want := (Limits{}).Validate(&wrong), (Limits{5, 10 * time.Millisecond, time.Second}); got != want || wrong != nil {
		t.Errorf("%+v, %v, want %+v", got, wrong, want)
	}
	given := Limits{1, time.Minute, time.Hour}
	if got := given.Validate(&wrong); got != given || wrong != nil {
		t.Errorf("%+v, %v, want %+v", got, wrong, given)
	}
	if (Limits{-1, -2, -3}).Validate(&wrong); len(wrong) != 3 {
		t.Errorf("%v, want three errors", wrong)
	}
}

func TestIsConflict(t *testing.T) {
	for err, want := range map[error]bool{
		state("40001"): true, state("40P01"): true, fmt.Errorf("insert: %w", state("40001")): true,
		state("55P03"): false, errors.New("40001"): false,
	} {
		if got := IsConflict(err); got != want {
			t.Errorf("%v: %t, want %t", err, got, want)
		}
	}
}

func TestIsUndone(t *testing.T) {
	my := func(number uint16, text string) error { return &mysql.MySQLError{Number: number, Message: text} }
	for err, want := range map[error]bool{
		state("40001"): true, state("40P01"): true, state("23505"): false,
		my(1213, "Deadlock found when trying to get lock"):             true,
		my(1205, "Lock wait timeout exceeded"):                         false,
		my(1020, "Record has changed since last read"):                 true,
		my(3101, "Plugin instructed the server to rollback"):           true,
		my(1062, "Duplicate entry 'database is locked' for key 'x'"):   false,
		errors.Join(errors.New("rollback failed"), my(1213, "locked")): true,
		errors.New("Error 1213 (40001): Deadlock found"):               false, // only a text
		errors.New("connection refused"):                               false,
		errors.New("database is locked (5) (SQLITE_BUSY)"):             true,
	} {
		if got := IsUndone(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%v: %t, want %t", err, got, want)
		}
	}
	if IsUndone(nil) || MySQLNumber(nil) != 0 {
		t.Error("no error is a conflict")
	}
}
