package redisstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

func text(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// put replaces a namespace, as an operator would.
func (c *client) put(t *testing.T, prefix string, st driver.State) {
	t.Helper()
	key := prefix + "lease:{" + st.Namespace.Name + "}"
	args := []any{"HSET", key}
	if !st.Missing {
		args = append(args, "namespace", text(t, st.Namespace))
	}
	for _, rec := range st.Records {
		args = append(args, rec.Worker, text(t, rec))
	}
	c.must(t, "MULTI")
	c.must(t, "DEL", key)
	if len(args) > 2 {
		c.must(t, args...)
	}
	c.must(t, "EXEC")
}

func TestStore(t *testing.T) {
	server := testserver.Redis(t)
	operator := dial(t, server)
	storetest.Run(t, storetest.Config{
		Hung: func(*testing.T) driver.Store {
			return mustNew(redisstore.New(func(context.Context, string, []string, ...any) (any, error) { select {} }, redisstore.Config{}))
		},
		Put: func(t *testing.T, st driver.State) { operator.put(t, "t:", st) },
		Open: func(t *testing.T) driver.Store {
			return mustNew(redisstore.New(dial(t, server).eval, redisstore.Config{Prefix: "t:"}))
		},
	})
}

func claim(namespace, id string) driver.Claim {
	return driver.Claim{Namespace: namespace, Layout: "l", WorkerIDs: 1024, Preferred: -1, Exclude: -1, ClaimID: id, Owner: "test", Now: time.Now().UnixMilli(), FenceWindow: 30_000}
}

func renewal(c driver.Claim, l driver.Lease) driver.Renewal {
	return driver.Renewal{Namespace: c.Namespace, Worker: l.Worker, ClaimID: c.ClaimID, FencingToken: l.FencingToken, FenceWindow: c.FenceWindow}
}

// Whatever makes Redis forget, or may make it forget, a holder that renews in time keeps its lease if its
// record still exists, and the next claim starts at the floor.
func TestForgets(t *testing.T) {
	for name, event := range map[string]struct {
		happens func(t *testing.T, server *testserver.Server, c *client) *client
		keeps   bool
	}{
		"crash":                     {func(t *testing.T, server *testserver.Server, _ *client) *client { return restarted(t, server) }, true},
		"crash without persistence": {func(t *testing.T, server *testserver.Server, _ *client) *client { return restarted(t, server) }, false},
		"promotion": {func(t *testing.T, _ *testserver.Server, c *client) *client {
			c.must(t, "REPLICAOF", "127.0.0.1", "1")
			c.must(t, "REPLICAOF", "NO", "ONE")
			return c
		}, true},
		"FLUSHALL": {func(t *testing.T, _ *testserver.Server, c *client) *client { c.must(t, "FLUSHALL"); return c }, false},
		"a record deleted": {func(t *testing.T, _ *testserver.Server, c *client) *client {
			c.must(t, "HDEL", "snowkey:lease:{orders}", 0)
			return c
		}, false},
		"the key evicted": {func(t *testing.T, _ *testserver.Server, c *client) *client {
			c.must(t, "DEL", "snowkey:lease:{orders}")
			return c
		}, false},
		"nothing has gone": {func(_ *testing.T, _ *testserver.Server, c *client) *client { return c }, true},
		"another namespace": {func(t *testing.T, _ *testserver.Server, c *client) *client {
			c.must(t, "DEL", "snowkey:lease:{x}")
			return c
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.NewRedis(t)
			c := dial(t, server)
			store := mustNew(redisstore.New(func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
				return c.eval(ctx, script, keys, args...)
			}, redisstore.Config{}))
			first := claim("orders", "first")
			l, err := store.Claim(t.Context(), first)
			if err != nil || !l.FloorRaised { // which it cannot tell from a new one
				t.Fatalf("%+v, %v", l, err)
			}
			st, err := store.List(t.Context(), "orders")
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(name, "without") {
				c.must(t, "FLUSHALL") // the log ends with this
				c.must(t, "CONFIG", "SET", "appendonly", "no")
			}
			st.Namespace.Floor, st.Namespace.Since, st.Namespace.Seen = 0, 0, 1 // this was long ago
			st.Records[0].Fence = time.Now().UnixMilli() + 30_000
			c.put(t, "snowkey:", st)
			l.Fence = st.Records[0].Fence
			c = event.happens(t, server, c)
			forgets := name != "nothing has gone" && name != "another namespace"
			next, err := store.Claim(t.Context(), claim("orders", "next"))
			if err != nil || next.FloorRaised != forgets || forgets && next.Start < l.Fence || event.keeps && next.Worker == l.Worker {
				t.Errorf("%+v after %+v, %v", next, l, err)
			}
			if ahead := next.Start - time.Now().UnixMilli(); forgets && ahead < 30_000 {
				t.Errorf("%d ms ahead of the clock", ahead)
			}
			renewed, err := store.Renew(t.Context(), renewal(first, l))
			if (err == nil) != event.keeps || err == nil && renewed.Fence < l.Fence || err != nil && !errors.Is(err, driver.ErrNotHeld) {
				t.Errorf("%+v, %v", renewed, err)
			}
		})
	}
}

// A Redis that keeps nothing over a crash grants no claim until all ids of its previous life are below the
// floor.
func TestJustStarted(t *testing.T) {
	c := dial(t, testserver.NewRedis(t))
	c.must(t, "CONFIG", "SET", "appendonly", "no")
	store := mustNew(redisstore.New(func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		return c.eval(ctx, script, keys, args...)
	}, redisstore.Config{}))
	var young *driver.FloorError
	if _, err := store.Claim(t.Context(), claim("orders", "first")); !errors.As(err, &young) || young.Wait < 20_000 || young.Wait > 40_000 {
		t.Fatal(err)
	}
	short := claim("short", "first")
	short.FenceWindow = 900 // and MaxSkew 300
	_, err := store.Claim(t.Context(), short)
	for began := time.Now(); errors.As(err, &young) && time.Since(began) < 10*time.Second; _, err = store.Claim(t.Context(), short) {
		time.Sleep(100 * time.Millisecond)
		short.Now = time.Now().UnixMilli()
	}
	if err != nil {
		t.Error(err)
	}
}

// restarted kills the server and starts it again.
func restarted(t *testing.T, server *testserver.Server) *client {
	t.Helper()
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	return dial(t, server)
}

// Leases are refused in a Redis that cannot show whether it forgets.
func TestRefused(t *testing.T) {
	server := testserver.NewRedis(t)
	c, limited := dial(t, server), dial(t, server)
	c.must(t, "ACL", "SETUSER", "app", "on", ">x", "~*", "+@all", "-info")
	limited.must(t, "AUTH", "app", "x")
	_, err := mustNew(redisstore.New(limited.eval, redisstore.Config{})).Claim(t.Context(), claim("orders", "a"))
	if err == nil || !strings.Contains(err.Error(), "grant +info to the user") || !driver.IsPermanent(err) {
		t.Error(err)
	}
	store := mustNew(redisstore.New(c.eval, redisstore.Config{}))
	c.must(t, "HSET", "snowkey:lease:{other}", "3", `{}`)
	if _, err := store.List(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), `which is not the record of a worker ID`) {
		t.Error(err)
	}
	for _, readOnly := range []string{"yes", "no"} {
		c.must(t, "REPLICAOF", "127.0.0.1", "1")
		c.must(t, "CONFIG", "SET", "replica-read-only", readOnly)
		_, err = store.Claim(t.Context(), claim("orders", "b"))
		_, count := store.Reserve(t.Context(), "n", 1)
		for _, err := range []error{err, count} {
			if err == nil || !strings.Contains(err.Error(), "READONLY") || driver.IsPermanent(err) {
				t.Errorf("replica-read-only %s: %v", readOnly, err)
			}
		}
	}
}

// A claim in a large namespace reads some records, and finds its worker ID again. If none of those can
// be claimed, it reads all.
func TestLargeNamespace(t *testing.T) {
	const size = 20_000
	c := dial(t, testserver.Redis(t))
	st := driver.State{Namespace: driver.Namespace{Name: "large", Layout: "l", FenceWindow: 30_000, MaxSkew: 10_000, Seen: size, Version: 1}}
	for id := range int64(size) {
		rec := driver.Record{Worker: id, ClaimID: fmt.Sprint("c", id), FencingToken: 1, Start: 1, Fence: 1, Status: driver.Kept}
		if id%2 == 0 {
			rec.Status = driver.Released
		}
		st.Records = append(st.Records, rec)
	}
	c.put(t, "large:", st)
	read := 0
	store := mustNew(redisstore.New(func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		v, err := c.eval(ctx, script, keys, args...)
		read += strings.Count(fmt.Sprint(v), `"worker_id"`)
		return v, err
	}, redisstore.Config{Prefix: "large:"}))
	q := claim("large", "q")
	q.WorkerIDs = size
	l, err := store.Claim(t.Context(), q)
	if again, twice := store.Claim(t.Context(), q); err != nil || twice != nil || again.Worker != l.Worker || again.FencingToken != l.FencingToken || l.Worker%2 != 0 {
		t.Errorf("%+v, %v; %+v, %v", l, err, again, twice)
	}
	if read > 2500 || read == 0 {
		t.Errorf("%d records were read", read)
	}
	own := claim("large", "own")
	own.WorkerIDs, own.Preferred, own.Former = size, 12_346, driver.Former{Worker: l.Worker, ClaimID: "q", FencingToken: l.FencingToken, Unused: l.Start + 1}
	if l, err := store.Claim(t.Context(), own); err != nil || l.Worker != 12_346 {
		t.Errorf("%+v, %v", l, err)
	}
	for i := range st.Records { // but for one, all are held
		if i != 777 {
			st.Records[i].Status = driver.Kept
		} else {
			st.Records[i].Status = driver.Released
		}
	}
	c.put(t, "large:", st)
	q.ClaimID = "last"
	if l, err := store.Claim(t.Context(), q); err != nil || l.Worker != 777 {
		t.Errorf("%+v, %v", l, err)
	}
}

// A Redis that keeps only snapshots and crashes twice, one soon after the other, forgets what it has granted
// between. So it grants nothing then, even if a holder renews.
func TestSnapshotsAndTwoCrashes(t *testing.T) {
	server := testserver.New(t, testserver.KindRedis, "--appendonly", "no")
	c := dial(t, server)
	store := mustNew(redisstore.New(func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		return c.eval(ctx, script, keys, args...)
	}, redisstore.Config{}))
	now := time.Now().UnixMilli()
	c.put(t, "snowkey:", driver.State{
		Namespace: driver.Namespace{Name: "orders", Layout: "l", FenceWindow: 30_000, MaxSkew: 10_000, Incarnation: "of long ago", Seen: 2, Version: driver.Version},
		Records: []driver.Record{
			{Worker: 0, ClaimID: "holder", FencingToken: 1, Start: 1, Fence: now + 30_000, Status: driver.Held},
			{Worker: 1, Status: driver.Unused},
		},
	})
	c.must(t, "SAVE")
	holder := driver.Lease{Worker: 0, FencingToken: 1, Fence: now + 30_000}
	for range 2 {
		c = restarted(t, server)
		if renewed, err := store.Renew(t.Context(), renewal(claim("orders", "holder"), holder)); err != nil || renewed.Fence <= holder.Fence || renewed.FloorRaised {
			t.Errorf("%+v, %v", renewed, err)
		}
		if l, err := store.Claim(t.Context(), claim("orders", "next")); !errors.As(err, new(*driver.FloorError)) {
			t.Errorf("%+v, %v", l, err)
		}
	}
	c.put(t, "snowkey:", driver.State{Namespace: driver.Namespace{Name: "orders", Layout: "l", FenceWindow: 30_000, MaxSkew: 10_000, Incarnation: "of long ago", Seen: 1, Version: driver.Version},
		Records: []driver.Record{{Worker: 0, ClaimID: "holder", FencingToken: 1, Start: 1, Fence: time.Now().UnixMilli() - 1, Status: driver.Held}}})
	if renewed, err := store.Renew(t.Context(), renewal(claim("orders", "holder"), holder)); !errors.Is(err, driver.ErrForgotten) {
		t.Errorf("renewed after its fence: %+v, %v", renewed, err)
	}
}
