package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

// MySQLError is as go-sql-driver/mysql has it.
type MySQLError struct {
	Number  uint16
	Message string
}

func (e *MySQLError) Error() string { return fmt.Sprintf("Error %d: %s", e.Number, e.Message) }

func TestIsUndone(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {state("40001"), true}, {fmt.Errorf("insert: %w", state("40P01")), true}, {state("55P03"), false},
		{fmt.Errorf("insert: %w", &MySQLError{1213, "Deadlock found"}), true}, {errors.Join(errors.New("rollback failed"), &MySQLError{1020, "Record has changed"}), true}, {&MySQLError{3101, "rollback"}, true},
		{&MySQLError{1062, "Duplicate entry 'Error 1213' for key 'x'"}, false}, {&MySQLError{1062, "'database is locked'"}, false}, {errors.New("database is locked"), true}, {errors.New("40001"), false},
	} {
		t.Run(fmt.Sprint(c.err), func(t *testing.T) {
			if got := IsUndone(c.err); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}
		})
	}
}

// A transaction is run again while others undo it, up to a limit, and no longer than its context.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ undone, want int }{{0, 1}, {3, 4}, {100, Attempts}} {
			runs := 0
			err := Retry(t.Context(), func() error {
				if runs++; runs <= c.undone {
					return state("40001")
				}
				return nil
			})
			if runs != c.want || (err != nil) != (c.undone > Attempts) {
				t.Errorf("%d runs, %v, want %d", runs, err, c.want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := Retry(ctx, func() error { return state("40P01") }); !errors.Is(err, context.DeadlineExceeded) || SQLState(err) != "40P01" {
			t.Error(err)
		}
	})
}

func TestRowsPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pace{RowsPerSecond: 100}
		if p.Batch(1000) != 100 || p.Batch(30) != 30 || (&Pace{}).Batch(1000) != 1000 {
			t.Error("a batch takes more than a second")
		}
		begun := time.Now()
		for range 5 {
			if err := p.Wait(t.Context(), nil, "x"); err != nil {
				t.Fatal(err)
			}
			p.Wrote(50)
		}
		if took := time.Since(begun); took != 2*time.Second { // the last ones are not waited for
			t.Errorf("250 rows in %v", took)
		}
		free := Pace{}
		free.Wrote(1e9)
		if err := free.Wait(t.Context(), nil, "x"); err != nil || time.Since(begun) != 2*time.Second {
			t.Errorf("without a limit: %v, %v", err, time.Since(begun))
		}
	})
}

func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pace{MaxReplicaLag: time.Second, standbys: 1}
		for _, c := range []struct {
			name  string
			after time.Duration
			look  look
			want  string
		}{
			{"it has all", 0, look{lsn: 100, replayed: 100, standbys: 1, seconds: 9}, ""},
			{"it is idle for a day", 24 * time.Hour, look{lsn: 100, replayed: 100, standbys: 1, seconds: 9}, ""},
			{"after a step that took an hour, it is in the middle", time.Hour, look{lsn: 900, replayed: 500, standbys: 1, seconds: 600}, "a replica is 10m0s behind"},
			{"it replays nothing", time.Minute, look{lsn: 900, replayed: 500, standbys: 1, seconds: 0.1}, "a replica is 1m0s behind"},
			{"it has all again", time.Second, look{lsn: 900, replayed: 900, standbys: 1, seconds: 61}, ""},
			{"a second one", time.Second, look{lsn: 900, replayed: 900, standbys: 2}, ""},
			{"is gone", time.Second, look{lsn: 900, replayed: 900, standbys: 1}, ""},
			{"the first one is gone", time.Second, look{lsn: 900}, "0 of 1 replicas are connected"},
			{"and is back", time.Hour, look{lsn: 1900, replayed: 1000, standbys: 1}, ""},
			{"with a lag", 2 * time.Second, look{lsn: 1900, replayed: 1000, standbys: 1}, "a replica is 2s behind"},
		} {
			time.Sleep(c.after)
			if got := p.late(c.look); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	var wrong Errors
	if err := wrong.Err("x"); err != nil {
		t.Errorf("an empty list is the error %v", err)
	}
	wrong.Add("Table", strings.Repeat("é", 200), "is 100% too long")
	wrong.Add("Store", (*int)(nil), "is required")
	wrong.Add("Worker", -3, "must be at least %d", 1)
	if want := `x: Table "` + strings.Repeat("é", 100) + `"…: is 100% too long; Store nil: is required; Worker -3: must be at least 1`; wrong.Err("x").Error() != want {
		t.Errorf("%v\nwant\n%s", wrong.Err("x"), want)
	}
}
