package forget

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
)

func dial(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func redisStore(t *testing.T, c *redis.Client) *redisstore.Store {
	t.Helper()
	eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		return c.Eval(ctx, script, keys, args...).Result()
	}
	return engines.MustNew(redisstore.New(eval, redisstore.Config{}))
}

// redisSite returns a site of a server, which is reached through the link by holders.
func redisSite(t *testing.T, server *testserver.Server) (*site, *network.Link) {
	t.Helper()
	link := network.LinkTo(t, server.Addr)
	direct := func(t *testing.T) *redis.Client { t.Helper(); return dial(t, link.Addr) }
	return &site{
		window: 4 * time.Second,
		open:   func(t *testing.T) driver.Store { t.Helper(); return redisStore(t, direct(t)) },
		admin:  func(t *testing.T) admin { t.Helper(); return redisStore(t, direct(t)) },
		believe: func(t *testing.T, ns driver.Namespace) {
			t.Helper()
			must(t, direct(t).HSet(t.Context(), "snowkey:lease:{"+ns.Name+"}", "namespace", string(engines.MustNew(json.Marshal(ns)))).Err())
		},
	}, link
}

func TestRedis(t *testing.T) {
	crash := func(server *testserver.Server) func(*testing.T) {
		return func(t *testing.T) { t.Helper(); must(t, server.Kill()); must(t, server.Start()) }
	}
	t.Run("replica promoted", func(t *testing.T) {
		t.Parallel()
		primary, replica := testserver.NewRedis(t), testserver.NewRedis(t)
		s, link := redisSite(t, primary)
		replication := network.LinkTo(t, primary.Addr)
		c, r := dial(t, primary.Addr), dial(t, replica.Addr)
		must(t, r.ReplicaOf(t.Context(), "127.0.0.1", port(replication.Addr)).Err())
		s.keep = func(t *testing.T) {
			t.Helper()
			poll(t, func() error {
				n, err := c.Wait(t.Context(), 1, time.Second).Result()
				if err == nil && n < 1 {
					err = errCut
				}
				return err
			})
			replication.Cut()
		}
		s.event = func(t *testing.T) {
			t.Helper()
			must(t, primary.Kill())
			must(t, r.ReplicaOf(t.Context(), "NO", "ONE").Err())
			link.Lead(replica.Addr)
		}
		prove(t, "Redis: replica promoted", *s)
	})
	t.Run("restart without persistence", func(t *testing.T) {
		t.Parallel()
		server := testserver.New(t, testserver.KindRedis, "--appendonly", "no")
		s, _ := redisSite(t, server)
		s.event = crash(server)
		prove(t, "Redis: restart without persistence", *s)
	})
	t.Run("restarts without persistence, one soon after the other", func(t *testing.T) {
		t.Parallel()
		server := testserver.New(t, testserver.KindRedis, "--appendonly", "no")
		s, _ := redisSite(t, server)
		s.event, s.soon = crash(server), true
		live := newGroup(t, *s, "live")
		live.join(3)
		for range 2 {
			round(t, "Redis: restart without persistence, soon after the one before", *s, live, newGroup(t, *s, "control")).checkControl(t)
			live.shrink(3)
		}
	})
	t.Run("FLUSHALL", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewRedis(t)
		s, _ := redisSite(t, server)
		s.through = true
		s.event = func(t *testing.T) { t.Helper(); must(t, dial(t, server.Addr).FlushAll(t.Context()).Err()) }
		prove(t, "Redis: FLUSHALL", *s)
	})
	t.Run("appendonly yes, killed before the first rewrite", func(t *testing.T) {
		t.Parallel()
		server := testserver.New(t, testserver.KindRedis, "--appendonly", "no", "--rdb-key-save-delay", "60000000") // a minute for each key
		s, _ := redisSite(t, server)
		s.keep = func(t *testing.T) {
			t.Helper()
			must(t, dial(t, server.Addr).ConfigSet(t.Context(), "appendonly", "yes").Err())
		}
		s.event = crash(server)
		prove(t, "Redis: appendonly yes, killed before the first rewrite", *s)
	})
	t.Run("clean restart", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewRedis(t)
		s, _ := redisSite(t, server)
		s.event = func(t *testing.T) { t.Helper(); must(t, server.Restart()) }
		unharmed(t, "Redis: clean restart", *s)
	})
}
