package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
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
			storetest.Run(t, storetest.Harness{Hung: deafRedis, Open: func(t *testing.T) driver.Store {
				return mustNew(redisstore.New(evaler(client(t, server), bytes), redisstore.Config{Prefix: "t:", AllowDataLoss: true}))
			}})
		})
	}
}

// With its default settings, Redis may lose acknowledged writes: the store refuses it, and names the
// setting. One that is changed while a worker ID is held stops the renewals, and so the ids at the
// fence. When it is set back, they continue.
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
			store := mustNew(redisstore.New(evaler(client, false), redisstore.Config{ConfigGet: configGet(client)}))
			names := func(what string, err error) {
				t.Helper()
				var lossy *worker.DurabilityError
				if !errors.As(err, &lossy) || lossy.Setting != c.name || lossy.Value != c.lossy || lossy.Want != c.safe {
					t.Errorf("%s: %v", what, err)
				}
			}
			must(t, acquire(t, store, once))
			set("maxmemory-policy", "volatile-lru")
			set("maxmemory", "100mb")
			set(c.name, c.lossy)
			names("Open", acquire(t, store, once))
			allowed := mustNew(redisstore.New(evaler(client, false), redisstore.Config{ConfigGet: configGet(client), AllowDataLoss: true}))
			must(t, acquire(t, allowed, once))
			set(c.name, c.safe)
			gen, err := worker.Open(t.Context(), store, worker.Config{FenceWindow: 3 * time.Second, RenewInterval: time.Second, ClaimWait: patience})
			must(t, err)
			defer gen.Close(context.Background())
			var next error
			ids := func(want bool) func() bool {
				return func() bool {
					_, next = gen.Next(t.Context())
					return (next == nil) == want
				}
			}
			await(t, "renewal", func() bool { return gen.Stats().Renewals > 1 })
			set(c.name, c.lossy)
			await(t, "end of the ids", ids(false))
			names("Next", next)
			if !errors.Is(next, core.ErrFenced) {
				t.Error(next)
			}
			_, err = store.Reserve(t.Context(), "invoices", 10)
			names("Reserve", err)
			set(c.name, c.safe)
			await(t, "id", ids(true))
			_, err = store.Reserve(t.Context(), "invoices", 10)
			must(t, err)
			if st := gen.Stats(); st.Claims != 1 || st.Losses != 0 {
				t.Errorf("%+v", st)
			}
			must(t, gen.Close(context.Background()))
		})
	}
}

// An identity has the same worker ID each time, and the first four have the four that there are.
func TestRedisIdentity(t *testing.T) {
	name := fmt.Sprintf("%016x", rand.Uint64())
	store := mustNew(redisstore.New(evaler(client(t, testserver.Redis(t)), false), redisstore.Config{}))
	for _, address := range []int64{0, 1, 1, 2, 0, 3, 2} {
		if n, err := store.WorkerIDOf(t.Context(), name, fmt.Sprint("10.0.0.", address), 4); err != nil || n != address {
			t.Errorf("%d, %v; want %d", n, err, address)
		}
	}
	var used *worker.CounterExhaustedError
	if _, err := store.WorkerIDOf(t.Context(), name, "10.0.0.5", 4); !errors.As(err, &used) || !strings.Contains(err.Error(), `no worker ID is left for identity "10.0.0.5"`) {
		t.Errorf("%v", err)
	}
}

// The script chooses as the stores in Go do: the same requests have the same answers in Redis
// and in memory.
func TestRedisAgainstMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	remote := mustNew(redisstore.New(evaler(client(t, testserver.Redis(t)), false), redisstore.Config{AllowDataLoss: true}))
	local := memstore.New(memstore.Config{})
	type held struct {
		driver.Claim
		token string
	}
	for round := range 40 {
		space := fmt.Sprintf("m-%016x", rng.Uint64())
		now := time.Now().UnixMilli()
		var all []held
		for range 60 {
			now += rng.Int64N(20_000) - 5_000
			if rng.IntN(3) > 0 || len(all) == 0 {
				r := driver.Request{
					Namespace: space, Layout: "l", WorkerIDs: 1 + rng.Int64N(6), Preferred: -1, Exclude: rng.Int64N(8) - 4, ClaimID: fmt.Sprintf("%016x", rng.Uint64()), Owner: "o",
					Now: now, FenceWindow: 1 + rng.Int64N(30_000), TTL: []int64{3_600_000, driver.NoTTL}[rng.IntN(2)], MaxSkew: 1 << 40, MaxLead: rng.Int64N(40_000),
				}
				if r.Exclude < 0 {
					r.Exclude = -1
				}
				if rng.IntN(2) == 0 {
					r.Preferred = rng.Int64N(r.WorkerIDs)
					r.RequirePreferred = rng.IntN(3) == 0
				}
				if len(all) > 0 && rng.IntN(8) == 0 {
					r.ClaimID = all[rng.IntN(len(all))].token
				}
				a, errA := remote.Claim(t.Context(), r)
				b, errB := local.Claim(t.Context(), r)
				if a != b || (errA == nil) != (errB == nil) {
					t.Fatalf("round %d, %+v:\nRedis  %+v, %v\nmemory %+v, %v", round, r, a, errA, b, errB)
				}
				var noneA, noneB *worker.NoWorkerIDError
				if errors.As(errA, &noneA) {
					if !errors.As(errB, &noneB) || noneA.Leased != noneB.Leased || noneA.Ahead != noneB.Ahead || noneA.WorkerIDs != noneB.WorkerIDs || (noneA.Wait-noneB.Wait).Abs() > time.Minute {
						t.Fatalf("round %d, %+v:\nRedis  %v\nmemory %v", round, r, errA, errB)
					}
				} else if errA != nil {
					t.Fatal(errA)
				} else {
					all = append(all, held{a, r.ClaimID})
				}
				continue
			}
			h := all[rng.IntN(len(all))]
			until := h.Fence + rng.Int64N(20_000) - 5_000
			var errA, errB error
			if rng.IntN(2) == 0 {
				r := driver.Renewal{Namespace: space, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.token, Fence: until, TTL: 3_600_000}
				errA, errB = remote.Renew(t.Context(), r), local.Renew(t.Context(), r)
			} else {
				r := driver.Return{Namespace: space, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.token, Fence: until}
				errA, errB = remote.Release(t.Context(), r), local.Release(t.Context(), r)
			}
			if errA != errB {
				t.Fatalf("round %d, %+v: %v and %v", round, h, errA, errB)
			}
		}
	}
}

// Up to 2^53 the numbers of a script are exact.
func TestRedisManyNumbers(t *testing.T) {
	store := mustNew(redisstore.New(evaler(client(t, testserver.Redis(t)), false), redisstore.Config{AllowDataLoss: true}))
	r := driver.Request{
		Namespace: fmt.Sprintf("%016x", rand.Uint64()), Layout: "l", WorkerIDs: 1 << 53, Preferred: 1<<53 - 1, RequirePreferred: true, Exclude: -1, ClaimID: "a",
		Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 1000, MaxSkew: 60_000, MaxLead: 1000,
	}
	if c, err := store.Claim(t.Context(), r); err != nil || c.Worker != r.Preferred {
		t.Errorf("%+v, %v", c, err)
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
	return mustNew(redisstore.New(evaler(c, false), redisstore.Config{}))
}

// A record that cannot be read, such as one of a newer version, is an error. It is neither skipped
// nor replaced by a new one, whose fence may be too early.
func TestRedisRecordThatCannotBeRead(t *testing.T) {
	c := client(t, testserver.Redis(t))
	store := mustNew(redisstore.New(evaler(c, false), redisstore.Config{Prefix: t.Name(), AllowDataLoss: true}))
	must(t, acquire(t, store, once))
	for _, record := range []string{"2\n\n", "2\n\n7\n0\nowner\nnewer"} {
		must(t, c.HSet(t.Context(), t.Name()+"worker:{default}", "0", record).Err())
		if err := acquire(t, store, once); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%q: %v", record, err)
		}
	}
}
