package etcdstore

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func TestHedge(t *testing.T) {
	type reply struct {
		after time.Duration
		err   error
	}
	never := reply{after: time.Hour}
	for name, c := range map[string]struct {
		replies []reply
		want    int           // which of them, from 1 on; 0: an error
		took    time.Duration // of 3s
	}{
		"at once":                 {[]reply{{0, nil}}, 1, 0},
		"an error at once":        {[]reply{{0, errLost}, {0, nil}}, 0, 0},
		"silent":                  {[]reply{never, {time.Millisecond, nil}}, 2, time.Second + time.Millisecond},
		"slow":                    {[]reply{{1200 * time.Millisecond, nil}, {1200 * time.Millisecond, nil}}, 1, 1200 * time.Millisecond},
		"silent, then an error":   {[]reply{{2 * time.Second, nil}, {0, errLost}}, 1, 2 * time.Second},
		"an error late, and then": {[]reply{{1200 * time.Millisecond, errLost}, {time.Second, nil}}, 2, 2 * time.Second},
		"no answer":               {[]reply{never, never}, 0, 3 * time.Second},
		"two errors":              {[]reply{{1200 * time.Millisecond, errLost}, {time.Second, errLost}}, 0, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				defer cancel()
				var asked atomic.Int64
				began := time.Now()
				got, err := hedge(ctx, func(ctx context.Context) (int, error) {
					n := int(asked.Add(1))
					r := c.replies[n-1]
					select {
					case <-time.After(r.after):
						return n, r.err
					case <-ctx.Done():
						return 0, ctx.Err()
					}
				})
				if (err == nil) != (c.want > 0) || err == nil && got != c.want || time.Since(began) != c.took {
					t.Errorf("%d, %v after %v", got, err, time.Since(began))
				}
				cancel()
				synctest.Wait() // no request is left
			})
		})
	}
}

// silent are the leases of a cluster of three of which one member takes requests and never answers:
// every third request is its.
type silent struct {
	clientv3.Lease
	asked *atomic.Int64
}

func (s silent) swallow(ctx context.Context) error {
	if s.asked.Add(1)%3 != 0 {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s silent) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	if err := s.swallow(ctx); err != nil {
		return nil, err
	}
	return s.Lease.KeepAliveOnce(endless{ctx}, id)
}

// soon says that it ends soon, and does not: the store has no time to lose, and a busy
// machine all it needs.
type soon struct{ context.Context }

func (soon) Deadline() (time.Time, bool) { return time.Now().Add(600 * time.Millisecond), true }

// endless is a context without a deadline.
type endless struct{ context.Context }

func (endless) Deadline() (time.Time, bool) { return time.Time{}, false }

// A renewal asks three times, and so always meets the one that is silent.
func TestSilentMember(t *testing.T) {
	client := connect(t, testserver.Etcd(t).DSN)
	store, c := mustNew(New(client, Config{})), claim(newNamespace())
	l := held(t, store, c)
	s := silent{client.Lease, new(atomic.Int64)}
	client.KV, client.Lease = between{client.KV, s.swallow}, s
	within := func(do func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return do(soon{ctx})
	}
	for i := range int64(3) {
		s.asked.Store(i) // it is the first, the second or the third that is swallowed
		if err := within(func(ctx context.Context) error {
			_, err := store.Renew(ctx, renewal(c, l))
			return err
		}); err != nil {
			t.Errorf("renewal %d: %v", i, err)
		}
	}
	s.asked.Store(1)
	if err := within(func(ctx context.Context) error {
		return store.Release(ctx, driver.Release{Namespace: c.Namespace, Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: c.ClaimID, Unused: l.Start})
	}); err != nil && !errors.Is(err, driver.ErrNotHeld) {
		t.Error(err)
	}
}
