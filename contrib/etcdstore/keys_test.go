package etcdstore

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

// A record has no etcd lease. The presence key has one; a release deletes only that key, and so does
// a renewal of a lease that never expires.
func TestWhatIsKept(t *testing.T) {
	client := connect(t, testserver.Etcd(t).DSN)
	store, ctx := mustNew(New(client, Config{})), t.Context()
	get := func(key string) *mvccpb.KeyValue {
		t.Helper()
		found, err := client.Get(ctx, key)
		must(t, err)
		if len(found.Kvs) == 0 {
			return nil
		}
		return found.Kvs[0]
	}
	for _, keep := range []bool{false, true} {
		c := claim(newNamespace())
		c.FenceWindow, c.MaxSkew = 599_500, 100_000
		l := held(t, store, c)
		record, alive, namespace := "snowkey#lease#"+c.Namespace+"#0", "snowkey#alive#"+c.Namespace+"#"+c.ClaimID, "snowkey#namespace#"+c.Namespace
		kv, there, ns := get(record), get(alive), get(namespace)
		if kv == nil || kv.Lease != 0 || there == nil || there.Lease == 0 || ns == nil || ns.Lease != 0 {
			t.Fatalf("%v %v %v", kv, there, ns)
		}
		if left, err := client.TimeToLive(ctx, clientv3.LeaseID(there.Lease)); err != nil || left.GrantedTTL != 700 {
			t.Errorf("%+v, %v", left, err)
		}
		r := renewal(c, l)
		r.Keep = keep
		renewed, err := store.Renew(ctx, r)
		if again := get(alive); err != nil || renewed.Fence < l.Fence || (again == nil) != keep || again != nil && again.Lease != there.Lease {
			t.Errorf("%+v, %v: %v", renewed, err, again)
		}
		if r.FenceWindow = 300_000; !keep {
			if _, err := store.Renew(ctx, r); err != nil || get(alive).Lease == there.Lease {
				t.Errorf("a renewal with another window kept the etcd lease: %v", err)
			}
		}
		must(t, store.Release(ctx, driver.Release{Namespace: c.Namespace, Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: c.ClaimID, Unused: l.Start}))
		if get(record) == nil || get(alive) != nil {
			t.Errorf("%v %v", get(record), get(alive))
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
		c := claim(p.namespace)
		c.ClaimID = "same#claim#"
		c.Layout = strings.Repeat("x", i+1)
		if l, err := mustNew(New(client, Config{Prefix: p.prefix})).Claim(ctx, c); err != nil || l.Worker != 0 {
			t.Errorf("%+v: %+v, %v", p, l, err)
		}
	}
	for _, p := range places {
		if st := list(t, mustNew(New(client, Config{Prefix: p.prefix})), p.namespace); len(st.Records) != 1 {
			t.Errorf("%+v: %+v", p, st)
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
	unused := encode(driver.Record{Status: driver.Unused})
	for suffix, value := range map[string]string{
		"lease#%#0": "", "lease#%#1": "{}", "lease#%#2": `{"worker_id":2,"state":"held","fence":1e300}`, "lease#%#4": `{"worker_id":5,"state":"held"}`, "lease#%#x": unused, "lease#%#-1": unused, "lease#%#01": unused,
		"lease#%#": unused, "namespace#%": "layout 1", "layout#%": "layout 1",
	} {
		store, name := mustNew(New(client, Config{})), newNamespace()
		key := "snowkey#" + strings.ReplaceAll(suffix, "%", name)
		if _, err := client.Put(ctx, key, value); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Claim(ctx, claim(name)); err == nil || !strings.Contains(err.Error(), name) {
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
	r := claim(newNamespace())
	held(t, store, r)
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
	f.Add(`{"worker_id":7,"claim_id":"t","fencing_token":3,"state":"held","owner":"o","fence":9007199254740993}`, "7")
	f.Add(`{"worker_id":0,"state":"kept","fencing_token":9223372036854775807}`, "-0")
	f.Add(`null`, "00")
	f.Fuzz(func(t *testing.T, value, number string) {
		key := []byte("p#lease#s#" + number)
		if rec, err := decodeRecord(&mvccpb.KeyValue{Key: key, Value: []byte(value)}, "p#lease#s#"); err == nil {
			again, err := decodeRecord(&mvccpb.KeyValue{Key: key, Value: []byte(encode(rec))}, "p#lease#s#")
			if err != nil || again != rec || (&Store{prefix: "p"}).recordKey("s", rec.Worker) != string(key) {
				t.Errorf("%q: %+v, then %+v, %v", value, rec, again, err)
			}
		}
	})
}
