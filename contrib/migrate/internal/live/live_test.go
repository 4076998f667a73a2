package live

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

func TestIsUndone(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {state("40001"), true}, {fmt.Errorf("insert: %w", state("40P01")), true}, {state("55P03"), false},
		{errors.New("insert: Error 1213 (40001): Deadlock found"), true}, {errors.New("Error 1020 (HY000): Record has changed"), true},
		{errors.New("Error 3101: rollback"), true}, {errors.New("Error 1062 (23000): Duplicate entry '1213'"), false},
		{errors.New("database is locked"), true}, {errors.New("40001"), false},
	} {
		if got := IsUndone(c.err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}

// A transaction is run again while others undo it, up to a limit, and no longer than its context.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ undone, want int }{{0, 1}, {3, 4}, {100, attempts}} {
			runs := 0
			err := Retry(t.Context(), func() error {
				if runs++; runs <= c.undone {
					return state("40001")
				}
				return nil
			})
			if runs != c.want || (err != nil) != (c.undone > attempts) {
				t.Errorf("%d runs, %v, want %d", runs, err, c.want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
		defer cancel()
		err := Retry(ctx, func() error { return state("40P01") })
		if !errors.Is(err, context.DeadlineExceeded) || SQLState(err) != "40P01" {
			t.Error(err)
		}
	})
}
