package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// failed wraps an error of the client. If the context is done, the error is the context's, and
// names the members that did not answer.
func (s *Store) failed(ctx context.Context, what string, err error) error {
	switch done := ctx.Err(); {
	case done != nil && errors.Is(err, done):
		return fmt.Errorf("etcdstore: %s: %s%w", what, s.unanswered(), done)
	case done != nil:
		return fmt.Errorf("etcdstore: %s: %s%w: %v", what, s.unanswered(), done, err) //nolint:errorlint // the context's error counts
	}
	err = fmt.Errorf("etcdstore: %s: %w", what, err)
	for _, refusal := range []error{rpctypes.ErrPermissionDenied, rpctypes.ErrAuthFailed, rpctypes.ErrUserEmpty} {
		if errors.Is(err, refusal) { // a retry makes no difference
			return driver.Permanent(err)
		}
	}
	return err
}

// unanswered names the members that did not answer. The client does not say why it cannot
// connect, but the error of a request that does not wait for a connection says it.
func (s *Store) unanswered() string {
	if s.client == nil {
		return ""
	}
	text := "no answer from " + strings.Join(s.client.Endpoints(), ", ") + ": "
	conn := s.client.ActiveConnection()
	if conn == nil || conn.GetState() != connectivity.TransientFailure {
		return text
	}
	const moment = 20 * time.Millisecond // nothing is sent
	ctx, cancel := context.WithTimeout(context.Background(), moment)
	defer cancel()
	err := conn.Invoke(ctx, "/etcdserverpb.KV/Range", &etcdserverpb.RangeRequest{Key: []byte("x")}, new(etcdserverpb.RangeResponse), grpc.WaitForReady(false))
	if err == nil || ctx.Err() != nil {
		return text
	}
	return text + err.Error() + ": "
}
