package etcdstore

import (
	"context"
	"errors"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// Errors of etcd that are not retryable are marked as permanent, and no others.
func TestRefusedForGood(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{rpctypes.ErrPermissionDenied, true}, {rpctypes.ErrAuthFailed, true}, {rpctypes.ErrUserEmpty, true},
		{rpctypes.ErrNoLeader, false}, {rpctypes.ErrTimeout, false}, {rpctypes.ErrInvalidAuthToken, false}, {context.DeadlineExceeded, false},
	} {
		var permanent interface{ Permanent() bool }
		err := (&Store{}).failed(t.Context(), "claim", c.err)
		if got := errors.As(err, &permanent) && permanent.Permanent(); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v: %v, want %v", err, got, c.want)
		}
	}
}

// Whatever the client's error is, the error of a context that is done is the context's.
func TestDoneContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&Store{}).failed(ctx, "renew", errLost); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
