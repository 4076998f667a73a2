package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

func client(t *testing.T, server *testserver.Server) *redis.Client {
	t.Helper()
	options := &redis.Options{Addr: server.DSN}
	if strings.Contains(server.DSN, "://") {
		var err error
		if options, err = redis.ParseURL(server.DSN); err != nil {
			t.Fatal(err)
		}
	}
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// evaler is go-redis; with bytes it answers like clients that return []byte.
func evaler(c *redis.Client, bytes bool) redisstore.EvalFunc {
	return func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		v, err := c.Eval(ctx, script, keys, args...).Result()
		if list, ok := v.([]any); ok && bytes {
			for i, item := range list {
				list[i] = []byte(item.(string))
			}
		}
		return v, err
	}
}

func configGet(c *redis.Client) func(ctx context.Context, name string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		values, err := c.ConfigGet(ctx, name).Result()
		return values[name], err
	}
}

func TestRedisStore(t *testing.T) {
	for _, bytes := range []bool{false, true} {
		t.Run(fmt.Sprintf("bytes %v", bytes), func(t *testing.T) {
			server := testserver.Redis(t)
			admin := client(t, server)
			storetest.Run(t, storetest.Config{
				Hung: deafRedis,
				Open: func(t *testing.T) driver.Store {
					return engines.MustNew(redisstore.New(evaler(client(t, server), bytes), redisstore.Config{Prefix: "t:", AllowDataLoss: true}))
				},
				Put: func(t *testing.T, st driver.State) { putRedis(t, admin, "t:", st) },
			})
		})
	}
}

// putRedis replaces a namespace, as an operator would.
func putRedis(t *testing.T, c *redis.Client, prefix string, st driver.State) {
	t.Helper()
	values := map[string]any{}
	if !st.Missing {
		values["namespace"] = string(engines.MustNew(json.Marshal(st.Namespace)))
	}
	for _, rec := range st.Records {
		values[fmt.Sprint(rec.Worker)] = string(engines.MustNew(json.Marshal(rec)))
	}
	_, err := c.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		key := prefix + "lease:{" + st.Namespace.Name + "}"
		p.Del(t.Context(), key)
		if len(values) > 0 {
			p.HSet(t.Context(), key, values)
		}
		return nil
	})
	must(t, err)
}

// With its default settings, Redis may lose acknowledged writes: a count is refused, and the error names
// the setting. A lease accepts it, and continues when it is changed.
func TestRedisLossy(t *testing.T) {
	for _, c := range []struct{ name, safe, lossy string }{
		{"appendonly", "yes", "no"}, {"appendfsync", "always", "everysec"}, {"maxmemory-policy", "noeviction", "allkeys-lru"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait, mostly
			client := client(t, testserver.NewRedis(t))
			set := func(name, value string) {
				t.Helper()
				must(t, client.ConfigSet(t.Context(), name, value).Err())
			}
			set("appendfsync", "always")
			set("maxmemory-policy", "allkeys-lru") // without a limit nothing is evicted
			set("maxmemory", "0")
			store := engines.MustNew(redisstore.New(evaler(client, false), redisstore.Config{ConfigGet: configGet(client)}))
			_, err := store.Reserve(t.Context(), "invoices", 10)
			must(t, err)
			set("maxmemory-policy", "volatile-lru")
			set("maxmemory", "100mb")
			set(c.name, c.lossy)
			gen, err := worker.Open(t.Context(), store, worker.Config{FenceWindow: 3 * time.Second, RenewInterval: time.Second, ClaimWait: patience})
			must(t, err)
			defer gen.Close(context.Background())
			var lossy *worker.DurabilityError
			if _, err := store.Reserve(t.Context(), "invoices", 10); !errors.As(err, &lossy) || lossy.Setting != c.name || lossy.Value != c.lossy || lossy.Want != c.safe {
				t.Error(err)
			}
			allowed := engines.MustNew(redisstore.New(evaler(client, false), redisstore.Config{ConfigGet: configGet(client), AllowDataLoss: true}))
			_, err = allowed.Reserve(t.Context(), "invoices", 10)
			must(t, err)
			set(c.name, c.safe)
			_, err = store.Reserve(t.Context(), "invoices", 10)
			must(t, err)
			renewed := gen.Stats().Renewals
			await(t, "renewal", func() bool { return gen.Stats().Renewals > renewed+1 })
			if st := gen.Stats(); st.Claims != 1 || st.Failures != 0 {
				t.Errorf("%+v", st)
			}
			must(t, gen.Close(context.Background()))
		})
	}
}

// Up to 2^53 the numbers of a script are exact.
func TestRedisManyNumbers(t *testing.T) {
	store := engines.MustNew(redisstore.New(evaler(client(t, testserver.Redis(t)), false), redisstore.Config{}))
	c := driver.Claim{
		Namespace: fmt.Sprintf("%016x", rand.Uint64()), Layout: "l", WorkerIDs: 1 << 53, Preferred: 1<<53 - 1, RequirePreferred: true, Exclude: -1, ClaimID: "a",
		Now: time.Now().UnixMilli(), FenceWindow: 30_000,
	}
	l, err := store.Claim(t.Context(), c)
	if err != nil || l.Worker != c.Preferred {
		t.Fatalf("%+v, %v", l, err)
	}
	r := driver.Renewal{Namespace: c.Namespace, Worker: l.Worker, ClaimID: c.ClaimID, FencingToken: l.FencingToken, FenceWindow: c.FenceWindow}
	if renewed, err := store.Renew(t.Context(), r); err != nil || renewed.Worker != l.Worker || renewed.FencingToken != l.FencingToken {
		t.Errorf("%+v, %v", renewed, err)
	}
}

// deafRedis is go-redis with its defaults, without ContextTimeoutEnabled, at a server that hangs.
func deafRedis(t *testing.T) driver.Store {
	server := testserver.NewRedis(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr, ReadTimeout: -1, MaxRetries: -1})
	t.Cleanup(func() {
		must(t, server.Resume())
		_ = c.Close()
	})
	must(t, server.Pause())
	return engines.MustNew(redisstore.New(evaler(c, false), redisstore.Config{}))
}

// A record that cannot be read, such as one of a newer version, is an error. It is neither skipped
// nor replaced by a new one, whose fence may be too early.
func TestRedisRecordThatCannotBeRead(t *testing.T) {
	c := client(t, testserver.Redis(t))
	store := engines.MustNew(redisstore.New(evaler(c, false), redisstore.Config{Prefix: t.Name()}))
	must(t, acquire(t, store, once))
	for _, record := range []string{"{", `{"worker_id":"0"}`} {
		must(t, c.HSet(t.Context(), t.Name()+"lease:{default}", "0", record).Err())
		if err := acquire(t, store, once); err == nil || !strings.Contains(err.Error(), "not the record of a worker ID") {
			t.Errorf("%q: %v", record, err)
		}
	}
}
