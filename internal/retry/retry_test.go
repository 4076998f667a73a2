package retry

import (
	"errors"
	"fmt"
	"testing"
	"time"

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
	for err, want := range map[error]bool{
		state("40001"): true, state("40P01"): true, state("23505"): false,
		errors.New("Error 1213 (40001): Deadlock found when trying to get lock"): true,
		errors.New("Error 1205 (HY000): Lock wait timeout exceeded"):             false,
		errors.New("Error 1020 (HY000): Record has changed since last read"):     true,
		errors.New("connection refused"):                                         false,
		errors.New("database is locked (5) (SQLITE_BUSY)"):                       true,
	} {
		if got := IsUndone(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%v: %t, want %t", err, got, want)
		}
	}
}
