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

// lossy carries out transactions and loses some of the answers; before each it
// lets something else happen.
type lossy struct {
	clientv3.KV
	before func()
	lose   func() bool
}

func (l *lossy) Txn(ctx context.Context) clientv3.Txn { return &lossyTxn{l.KV.Txn(ctx), l} }

type lossyTxn struct {
	clientv3.Txn
	kv *lossy
}

func (x *lossyTxn) If(c ...clientv3.Cmp) clientv3.Txn  { x.Txn = x.Txn.If(c...); return x }
func (x *lossyTxn) Then(o ...clientv3.Op) clientv3.Txn { x.Txn = x.Txn.Then(o...); return x }
func (x *lossyTxn) Commit() (*clientv3.TxnResponse, error) {
	if x.kv.before != nil {
		x.kv.before()
	}
	answer, err := x.Txn.Commit()
	if err == nil && x.kv.lose != nil && x.kv.lose() {
		return nil, errLost
	}
	return answer, err
}

// Answers are lost after the write. What is repeated does no harm, and a claim
// takes no second worker ID.
func TestLostAnswers(t *testing.T) {
	client := connect(t, testserver.Etcd(t))
	n, every := 0, 2
	client.KV = &lossy{KV: client.KV, lose: func() bool { n++; return n%every == 0 }} // each call reads, then writes
	store, ctx := mustNew(New(client, Config{})), t.Context()
	r := request(newNamespace())
	if _, err := store.Claim(ctx, r); !errors.Is(err, errLost) {
		t.Fatalf("nothing was lost: %v", err)
	}
	c, err := store.Claim(ctx, r) // reads, and finds its worker ID
	if err != nil || c.FencingToken != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	n = 0
	renewal := driver.Renewal{Namespace: r.Namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.Fence + 5, TTL: r.TTL}
	if err := store.Renew(ctx, renewal); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	give := driver.Return{Namespace: r.Namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.From + 1}
	if rows, err := store.List(ctx, r.Namespace); err != nil || len(rows) != 1 || rows[0].Fence != c.Fence+5 {
		t.Fatalf("%+v, %v", rows, err)
	}
	n = 0
	if err := store.Release(ctx, give); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	every = 1 << 30
	if err := store.Release(ctx, give); !errors.Is(err, driver.ErrNotHeld) {
		t.Fatal(err)
	}
	if next, err := store.Claim(ctx, request(r.Namespace)); err != nil || next.Worker != c.Worker || next.From < give.Fence || next.FencingToken != 2 {
		t.Fatalf("%+v, %v", next, err)
	}
}

// One claim is sent many times at once, as when a late request meets its
// repetition: all have the same worker ID, and no other is taken.
func TestOneTokenOneNumber(t *testing.T) {
	server := testserver.Etcd(t)
	stores := make([]*Store, 6)
	for i := range stores {
		stores[i] = mustNew(New(connect(t, server), Config{}))
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
	client, other := connect(t, server), mustNew(New(connect(t, server), Config{}))
	var meanwhile func()
	txns := 0
	client.KV = &lossy{KV: client.KV, before: func() {
		if txns++; txns == 2 { // each verb reads, then writes
			meanwhile()
		}
	}}
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
				txns, meanwhile = 0, func() {
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
				}
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
	txns, meanwhile = 0, func() {
		if _, err := client.Put(ctx, alive, "60000"); err != nil {
			t.Fatal(err)
		}
	}
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
	client, other := connect(t, server), mustNew(New(connect(t, server), Config{}))
	for _, known := range []bool{false, true} {
		r, another := request(newNamespace()), request("")
		another.Namespace, another.Layout, another.Preferred = r.Namespace, "layout 2", 3
		if known {
			if _, err := other.Claim(ctx, request(r.Namespace)); err != nil {
				t.Fatal(err)
			}
		}
		txns := 0
		client.KV = &lossy{KV: clientv3.NewKV(client), before: func() {
			if txns++; txns != 2 {
				return
			}
			var err error
			if known {
				_, err = client.Put(ctx, "snowkey#layout#"+r.Namespace, another.Layout)
			} else {
				_, err = other.Claim(ctx, another)
			}
			if err != nil {
				t.Fatal(err)
			}
		}}
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
	client := connect(t, testserver.Etcd(t))
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
