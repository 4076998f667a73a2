package driver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRetry(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		races int // before the result
		err   error
		want  string
		calls int
	}{
		"at once":      {0, nil, "", 1},
		"after races":  {199, nil, "", 200},
		"an error":     {1, broken, "broken", 2},
		"it gives up":  {1000, nil, "changed the record 200 times", 200},
		"context ends": {1000, nil, context.DeadlineExceeded.Error(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, calls := t.Context(), 0
				if c.calls == 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
					defer cancel()
				}
				err := Retry(ctx, func() (bool, error) {
					if calls++; calls <= c.races {
						return false, nil
					}
					return c.err == nil, c.err
				})
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if c.calls > 0 && calls != c.calls {
					t.Errorf("%d calls, want %d", calls, c.calls)
				}
			})
		})
	}
}

// The floor may have been raised although the write was not answered: the result says so.
func TestTransactFloorRaisedWithAnError(t *testing.T) {
	broken := errors.New("broken")
	decide := func(s State) (Change, error) {
		ns := s.Namespace
		ns.Floor = 7
		return Change{Namespace: &ns}, nil
	}
	read := func(context.Context, bool) (State, error) { return State{}, nil }
	write := func(context.Context, State, Change) (bool, error) { return false, broken }
	if l, err := Transact(t.Context(), decide, read, write); !l.FloorRaised || !errors.Is(err, broken) {
		t.Errorf("%+v, %v", l, err)
	}
}
