package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func newNamespace() string { return fmt.Sprintf("t-%016x", rand.Uint64()) }

func request(namespace string) driver.Request {
	return driver.Request{
		Namespace: namespace, Layout: "layout 1", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: fmt.Sprintf("%032x", rand.Uint64()), Owner: "test",
		Now: time.Now().UnixMilli(), FenceWindow: 30_000, TTL: 60_000, MaxSkew: 1 << 40, MaxLead: 1 << 40,
	}
}

var errLost = errors.New("the answer was lost")

// between is a client that lets something else happen before each transaction, or an error come instead.
type between struct {
	clientv3.KV
	before func(ctx context.Context) error
}

// Txn passes on no deadline: it is for the store, see soon.
func (b between) Txn(ctx context.Context) clientv3.Txn {
	return &betweenTxn{b.KV.Txn(endless{ctx}), ctx, b}
}

type betweenTxn struct {
	clientv3.Txn
	ctx context.Context
	kv  between
}

func (x *betweenTxn) If(c ...clientv3.Cmp) clientv3.Txn  { x.Txn = x.Txn.If(c...); return x }
func (x *betweenTxn) Then(o ...clientv3.Op) clientv3.Txn { x.Txn = x.Txn.Then(o...); return x }
func (x *betweenTxn) Commit() (*clientv3.TxnResponse, error) {
	if err := x.kv.before(x.ctx); err != nil {
		return nil, err
	}
	return x.Txn.Commit()
}

// once calls write between the read and the write of a call.
func once(client *clientv3.Client, write func()) clientv3.KV {
	txns := 0
	return between{clientv3.NewKV(client), func(context.Context) error {
		if txns++; txns == 2 {
			write()
		}
		return nil
	}}
}

// The error of a write is that of the call.
func TestWriteFails(t *testing.T) {
	client := connect(t, testserver.Etcd(t).DSN)
	store, r := mustNew(New(client, Config{})), request(newNamespace())
	c, err := store.Claim(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	txns := 0
	client.KV = between{client.KV, func(context.Context) error {
		if txns++; txns%2 == 0 {
			return errLost
		}
		return nil
	}}
	_, err = store.Claim(t.Context(), request(r.Namespace))
	if renewed := store.Renew(t.Context(), driver.Renewal{Namespace: r.Namespace, Worker: c.Worker, FencingToken: 1, ClaimID: r.ClaimID, Fence: c.Fence, TTL: r.TTL}); !errors.Is(err, errLost) || !errors.Is(renewed, errLost) {
		t.Errorf("%v, %v", err, renewed)
	}
}

// One claim is sent many times at once, as when a late request meets its
// repetition: all have the same worker ID, and no other is taken.
func TestOneTokenOneNumber(t *testing.T) {
	server := testserver.Etcd(t)
	stores := make([]*Store, 6)
	for i := range stores {
		stores[i] = mustNew(New(connect(t, server.DSN), Config{}))
	}
	for range 20 {
		first := request(newNamespace()) // a new namespace would make them meet at its layout
		first.WorkerIDs, first.Preferred = 64, 63
		if _, err := stores[0].Claim(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		r := request(first.Namespace)
		r.WorkerIDs = 64
		var mu sync.Mutex
		given := map[driver.Claim]bool{}
		var wg sync.WaitGroup
		for i, store := range stores {
			wg.Go(func() {
				r := r
				r.Preferred = int64(i)
				c, err := store.Claim(t.Context(), r)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				given[c] = true
			})
		}
		wg.Wait()
		rows, err := stores[0].List(t.Context(), r.Namespace)
		if err != nil || len(rows) != 2 || len(given) != 1 {
			t.Fatalf("%v, %+v, %v", given, rows, err)
		}
	}
}

// Other clients write between the read and the write of a call: what they have written
// stays.
func TestMeanwhile(t *testing.T) {
	ctx, server := t.Context(), testserver.Etcd(t)
	client, other := connect(t, server.DSN), mustNew(New(connect(t, server.DSN), Config{}))
	store := mustNew(New(client, Config{}))
	row := func(namespace string) driver.Record {
		t.Helper()
		rows, err := other.List(ctx, namespace)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%+v, %v", rows, err)
		}
		return rows[0]
	}
	for what, verb := range map[string]func(r driver.Request, c driver.Claim) error{
		"renew": func(r driver.Request, c driver.Claim) error {
			return store.Renew(ctx, driver.Renewal{Namespace: r.Namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.Fence + 1000, TTL: r.TTL})
		},
		"release": func(r driver.Request, c driver.Claim) error {
			return store.Release(ctx, driver.Return{Namespace: r.Namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.From})
		},
	} {
		t.Run(what, func(t *testing.T) {
			for _, by := range []string{"taken", "renewed"} {
				r := request(newNamespace())
				r.WorkerIDs = 1
				c, err := other.Claim(ctx, r)
				if err != nil {
					t.Fatal(err)
				}
				var after driver.Record
				client.KV = once(client, func() {
					if by == "renewed" {
						err = other.Renew(ctx, driver.Renewal{Namespace: r.Namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.Fence + 2000, TTL: r.TTL})
					} else if err = other.Free(ctx, r.Namespace, c.Worker, c.FencingToken); err == nil {
						next := request(r.Namespace)
						next.WorkerIDs = 1
						_, err = other.Claim(ctx, next)
					}
					if err != nil {
						t.Fatal(err)
					}
					after = row(r.Namespace)
				})
				err = verb(r, c)
				now := row(r.Namespace)
				switch {
				case by == "taken" && (!errors.Is(err, driver.ErrNotHeld) || now.FencingToken != after.FencingToken || now.ClaimID != after.ClaimID || now.Fence != after.Fence):
					t.Errorf("%s: %v, %+v, then %+v", what, err, after, now)
				case by == "renewed" && (err != nil || what == "renew" && now.Fence != c.Fence+2000 || what == "release" && (now.Fence != c.From || now.ClaimID != "")):
					t.Errorf("%s after a renewal: %v, %+v", what, err, now)
				}
			}
		})
	}
	// One whose time was over has come back before another has written its claim.
	r := request(newNamespace())
	r.WorkerIDs = 1
	c, err := other.Claim(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	alive := "snowkey#alive#" + r.Namespace + "#" + r.ClaimID
	if _, err := client.Delete(ctx, alive); err != nil { // as if it were
		t.Fatal(err)
	}
	client.KV = once(client, func() {
		if _, err := client.Put(ctx, alive, "60000"); err != nil {
			t.Fatal(err)
		}
	})
	late := request(r.Namespace)
	late.WorkerIDs = 1
	if got, err := store.Claim(ctx, late); !errors.Is(err, driver.ErrNoWorkerID) || row(r.Namespace).FencingToken != c.FencingToken {
		t.Errorf("%+v, %v", got, err)
	}
}

// Another layout comes between the reading and the writing of a claim: of a namespace
// that is new, and of one whose layout an operator changes.
func TestLayoutMeanwhile(t *testing.T) {
	ctx, server := t.Context(), testserver.Etcd(t)
	client, other := connect(t, server.DSN), mustNew(New(connect(t, server.DSN), Config{}))
	for _, known := range []bool{false, true} {
		r, another := request(newNamespace()), request("")
		another.Namespace, another.Layout, another.Preferred = r.Namespace, "layout 2", 3
		if known {
			if _, err := other.Claim(ctx, request(r.Namespace)); err != nil {
				t.Fatal(err)
			}
		}
		client.KV = once(client, func() {
			var err error
			if known {
				_, err = client.Put(ctx, "snowkey#layout#"+r.Namespace, another.Layout)
			} else {
				_, err = other.Claim(ctx, another)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		var layout *driver.LayoutError
		c, err := mustNew(New(client, Config{})).Claim(ctx, r)
		if rows, _ := other.List(ctx, r.Namespace); !errors.As(err, &layout) || layout.Have != another.Layout || len(rows) != 1 {
			t.Errorf("known %v: %+v, %v, %+v", known, c, err, rows)
		}
	}
}

// ending lets an etcd lease end just before it is kept alive.
type ending struct{ clientv3.Lease }

func (e ending) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	if _, err := e.Revoke(ctx, id); err != nil {
		return nil, err
	}
	return e.Lease.KeepAliveOnce(ctx, id)
}

// The time to live ends during a renewal. No other holder has claimed the worker ID, so the
// renewal succeeds.
func TestLifeEndsMeanwhile(t *testing.T) {
	client := connect(t, testserver.Etcd(t).DSN)
	client.Lease = ending{client.Lease}
	store, r := mustNew(New(client, Config{})), request(newNamespace())
	c, err := store.Claim(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Renew(t.Context(), driver.Renewal{Namespace: r.Namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.Fence + 1, TTL: r.TTL}); err != nil {
		t.Fatal(err)
	}
	rows, err := store.List(t.Context(), r.Namespace)
	if err != nil || len(rows) != 1 || rows[0].Fence != c.Fence+1 || rows[0].Free(time.Now().UnixMilli()) {
		t.Errorf("%+v, %v", rows, err)
	}
}
