package etcd

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A record has no etcd lease. The presence key has one, unless there is no time to live, and
// a release deletes only that key.
func TestWhatIsKept(t *testing.T) {
	client := connect(t, testserver.Etcd(t).DSN)
	store, ctx, name := mustNew(New(client, Config{})), t.Context(), newNamespace()
	get := func(key string) *mvccpb.KeyValue {
		t.Helper()
		found, err := client.Get(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Kvs) == 0 {
			return nil
		}
		return found.Kvs[0]
	}
	for _, ttl := range []int64{599_500, driver.NoTTL} {
		r := request(name)
		r.TTL = ttl
		c, err := store.Claim(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		row, alive := "snowkey#worker#"+name+"#0", "snowkey#alive#"+name+"#"+r.ClaimID
		kv, there := get(row), get(alive)
		if kv == nil || kv.Lease != 0 || there == nil || (there.Lease != 0) != (ttl != driver.NoTTL) {
			t.Fatalf("%v %v", kv, there)
		}
		if layout := get("snowkey#layout#" + name); layout == nil || layout.Lease != 0 || string(layout.Value) != r.Layout {
			t.Errorf("%v", layout)
		}
		if ttl != driver.NoTTL {
			if left, err := client.TimeToLive(ctx, clientv3.LeaseID(there.Lease)); err != nil || left.GrantedTTL != 600 {
				t.Errorf("%+v, %v", left, err)
			}
		}
		again := driver.Renewal{Namespace: name, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.Fence, TTL: ttl}
		if err := store.Renew(ctx, again); err != nil || get(alive).Lease != there.Lease {
			t.Errorf("a renewal with the same time to live made another etcd lease: %v", err)
		}
		again.TTL = 900_000
		if err := store.Renew(ctx, again); err != nil || get(alive).Lease == there.Lease {
			t.Errorf("a renewal with another time to live kept the etcd lease: %v", err)
		}
		if err := store.Release(ctx, driver.Return{Namespace: name, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.From}); err != nil {
			t.Fatal(err)
		}
		if get(row) == nil || get(alive) != nil {
			t.Errorf("%v %v", get(row), get(alive))
		}
	}
}

// Whatever the names of prefixes and namespaces, a claim is seen only in its own.
func TestNames(t *testing.T) {
	client, ctx, id := connect(t, testserver.Etcd(t).DSN), t.Context(), newNamespace()
	type place struct{ prefix, namespace string }
	places := []place{
		{id, "a"}, {id, "a/b"}, {id, "a:b"}, {id, "A"}, {id, "a0"}, {id, "worker"}, {id, "a/worker/0"}, {id + "/a", "b"}, {id + "/", "a"}, {id + "-worker", "a"}, {id + "a", "a"},
	}
	for i, p := range places {
		r := request(p.namespace)
		r.ClaimID = "same#token#"
		r.Layout = strings.Repeat("x", i+1)
		if c, err := mustNew(New(client, Config{Prefix: p.prefix})).Claim(ctx, r); err != nil || c.FencingToken != 1 {
			t.Errorf("%+v: %+v, %v", p, c, err)
		}
	}
	for _, p := range places {
		if rows, err := mustNew(New(client, Config{Prefix: p.prefix})).List(ctx, p.namespace); err != nil || len(rows) != 1 {
			t.Errorf("%+v: %+v, %v", p, rows, err)
		}
	}
}

func TestBadPrefixes(t *testing.T) {
	for _, prefix := range []string{"a#b", "a b", "ä", strings.Repeat("x", 256)} {
		store, err := New(new(clientv3.Client), Config{Prefix: prefix})
		var config *core.ConfigError
		if store != nil || !errors.As(err, &config) || len(config.Fields) != 1 || config.Fields[0].Field != "Prefix" {
			t.Errorf("%q: %v, %v", prefix, store, err)
		}
	}
}

// What others, or newer versions, have written below the prefix is an error that names the key, and is not
// overwritten.
func TestForeignKeys(t *testing.T) {
	client, ctx := connect(t, testserver.Etcd(t).DSN), t.Context()
	for suffix, value := range map[string]string{
		"worker#%#0": "", "worker#%#1": "{}", "worker#%#2": `{"epoch":-1}`, "worker#%#3": `{"epoch":1e300}`, "worker#%#4": `{"epoch":1,"token":"","owner":"","until":1,"newer":1}`,
		"worker#%#x": `{"epoch":1}`, "worker#%#-1": `{"epoch":1}`, "worker#%#01": `{"epoch":1}`, "worker#%#": `{"epoch":1}`,
	} {
		store, name := mustNew(New(client, Config{})), newNamespace()
		key := "snowkey#" + strings.ReplaceAll(suffix, "%", name)
		if _, err := client.Put(ctx, key, value); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Claim(ctx, request(name)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %q: %v", suffix, value, err)
		}
	}
	name := newNamespace()
	if _, err := client.Put(ctx, "snowkey#counter#"+name, "many"); err != nil {
		t.Fatal(err)
	}
	if _, err := mustNew(New(client, Config{})).Reserve(ctx, name, 1); !errors.Is(err, errNotCounter) {
		t.Error(err)
	}
}

func TestClocks(t *testing.T) {
	server := testserver.Etcd(t)
	member, _, _ := strings.Cut(server.DSN, ",")
	clock := HTTPClock(member+"/", nil)
	const apart = 2 * time.Second // it tells whole seconds
	before := time.Now()
	now, err := clock(t.Context())
	if err != nil || now.Before(before.Add(-apart)) || now.After(time.Now().Add(apart)) {
		t.Fatalf("%v after %v: %v", now, before, err)
	}
	store := mustNew(New(connect(t, server.DSN), Config{Clock: clock}))
	r := request(newNamespace())
	r.MaxSkew = 600_000
	if _, err := store.Claim(t.Context(), r); err != nil {
		t.Error(err)
	}
	r.ClaimID, r.Now = "x", r.Now-3_600_000
	var skew *driver.SkewError
	if _, err := store.Claim(t.Context(), r); !errors.As(err, &skew) {
		t.Error(err)
	}
	for what, answer := range map[string]http.HandlerFunc{
		"404":                http.NotFound,
		"sent no valid Date": func(w http.ResponseWriter, _ *http.Request) { w.Header()["Date"] = nil },
	} {
		odd := httptest.NewServer(answer)
		defer odd.Close()
		wrong := mustNew(New(connect(t, server.DSN), Config{Clock: HTTPClock(odd.URL, odd.Client())}))
		if _, err := wrong.Claim(t.Context(), r); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	var config *core.ConfigError
	if _, err := HTTPClock("http://a b", nil)(context.Background()); !errors.As(err, &config) {
		t.Error(err)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(`{"epoch":3,"token":"t","owner":"o","until":9007199254740993}`, "7")
	f.Add(`{"epoch":9223372036854775807}`, "-0")
	f.Add(`null`, "00")
	f.Fuzz(func(t *testing.T, value, number string) {
		if r, err := decode(&mvccpb.KeyValue{Value: []byte(value)}); err == nil {
			again, err := decode(&mvccpb.KeyValue{Value: []byte(encode(r))})
			if err != nil || again != r {
				t.Errorf("%q: %+v, then %+v, %v", value, r, again, err)
			}
		}
		s := &Store{prefix: "p"}
		if n, err := parseWorkerID([]byte("p#worker#s#"+number), s.recordKeys("s")); err == nil && s.recordKey("s", n) != "p#worker#s#"+number {
			t.Errorf("%q is read as %d", number, n)
		}
	})
}
