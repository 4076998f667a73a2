package etcdstore

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

func claim(namespace string) driver.Claim {
	return driver.Claim{
		Namespace: namespace, Layout: "layout 1", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: fmt.Sprintf("%032x", rand.Uint64()), Owner: "test",
		Now: time.Now().UnixMilli(), FenceWindow: 30_000,
	}
}

func renewal(c driver.Claim, l driver.Lease) driver.Renewal {
	return driver.Renewal{Namespace: c.Namespace, Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: c.ClaimID, FenceWindow: c.FenceWindow}
}

// held claims a worker ID.
func held(t *testing.T, s *Store, c driver.Claim) driver.Lease {
	t.Helper()
	l, err := s.Claim(t.Context(), c)
	must(t, err)
	return l
}

// list lists a namespace.
func list(t *testing.T, s *Store, namespace string) driver.State {
	t.Helper()
	st, err := s.List(t.Context(), namespace)
	must(t, err)
	return st
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

// A call returns the error of its write.
func TestWriteFails(t *testing.T) {
	client := connect(t, testserver.Etcd(t).DSN)
	store, c := mustNew(New(client, Config{})), claim(newNamespace())
	l := held(t, store, c)
	txns := 0
	client.KV = between{client.KV, func(context.Context) error {
		if txns++; txns%2 == 0 {
			return errLost
		}
		return nil
	}}
	_, err := store.Claim(t.Context(), claim(c.Namespace))
	if _, renewed := store.Renew(t.Context(), renewal(c, l)); !errors.Is(err, errLost) || !errors.Is(renewed, errLost) {
		t.Errorf("%v, %v", err, renewed)
	}
}

// One claim is sent many times at once, as when a late request meets its repetition: all have the
// same worker ID, and no other is taken.
func TestOneClaimOneWorkerID(t *testing.T) {
	server := testserver.Etcd(t)
	stores := make([]*Store, 6)
	for i := range stores {
		stores[i] = mustNew(New(connect(t, server.DSN), Config{}))
	}
	for range 20 {
		first := claim(newNamespace()) // a new namespace would make them meet at its key
		first.WorkerIDs, first.Preferred = 64, 63
		held(t, stores[0], first)
		c := claim(first.Namespace)
		c.WorkerIDs = 64
		var mu sync.Mutex
		given := map[driver.Lease]bool{}
		var wg sync.WaitGroup
		for i, store := range stores {
			wg.Go(func() {
				c := c
				c.Preferred = int64(i)
				l, err := store.Claim(t.Context(), c)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				given[l] = true
			})
		}
		wg.Wait()
		if st := list(t, stores[0], c.Namespace); len(st.Records) != 2 || len(given) != 1 {
			t.Fatalf("%v, %+v", given, st)
		}
	}
}

// Other clients write between the read and the write of a call: what they have written stays.
func TestMeanwhile(t *testing.T) {
	ctx, server := t.Context(), testserver.Etcd(t)
	client, other := connect(t, server.DSN), mustNew(New(connect(t, server.DSN), Config{}))
	store := mustNew(New(client, Config{}))
	for what, verb := range map[string]func(c driver.Claim, l driver.Lease) error{
		"renew": func(c driver.Claim, l driver.Lease) error {
			_, err := store.Renew(ctx, renewal(c, l))
			return err
		},
		"release": func(c driver.Claim, l driver.Lease) error {
			return store.Release(ctx, driver.Release{Namespace: c.Namespace, Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: c.ClaimID, Unused: l.Start})
		},
	} {
		for _, by := range []string{"freed", "renewed", "raised"} {
			t.Run(what+" "+by, func(t *testing.T) {
				c := claim(newNamespace())
				c.WorkerIDs = 1
				l := held(t, other, c)
				var after driver.State
				client.KV = once(client, func() {
					var err error
					switch by {
					case "renewed":
						_, err = other.Renew(ctx, renewal(c, l))
					case "raised":
						_, err = other.Raise(ctx, c.Namespace, 0)
					default:
						err = other.Free(ctx, c.Namespace, l.Worker, l.FencingToken)
					}
					must(t, err)
					after = list(t, other, c.Namespace)
				})
				err := verb(c, l)
				now := list(t, other, c.Namespace)
				switch rec := now.Records[0]; {
				case by == "freed" && (!errors.Is(err, driver.ErrNotHeld) || rec != after.Records[0]):
					t.Errorf("%v, %+v, then %+v", err, after, now)
				case by != "freed" && (err != nil || now.Namespace != after.Namespace || what == "renew" && rec.Fence < after.Records[0].Fence || what == "release" && (rec.Fence != l.Start || rec.Status != driver.Released)):
					t.Errorf("%v, %+v, then %+v", err, after, now)
				}
			})
		}
	}
}

// A holder that is present keeps its worker ID, also if its fence has passed by the claimant's clock:
// before the claim reads, and before it writes.
func TestPresent(t *testing.T) {
	ctx, server := t.Context(), testserver.Etcd(t)
	client, other := connect(t, server.DSN), mustNew(New(connect(t, server.DSN), Config{}))
	c := claim(newNamespace())
	c.WorkerIDs = 1
	l := held(t, other, c)
	hour := func(context.Context) (time.Time, error) { return time.Now().Add(time.Hour), nil }
	late := claim(c.Namespace)
	late.WorkerIDs, late.Now = 1, time.Now().Add(time.Hour).UnixMilli()
	fast := mustNew(New(client, Config{Clock: hour}))
	var none *driver.NoWorkerIDError
	if got, err := fast.Claim(ctx, late); !errors.As(err, &none) || none.Leased != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	alive := other.presenceKey(c.Namespace, c.ClaimID)
	if _, err := client.Delete(ctx, alive); err != nil { // as if its time to live were over
		t.Fatal(err)
	}
	client.KV = once(client, func() { other.set(t, alive, "60000") })
	if got, err := fast.Claim(ctx, late); !errors.As(err, &none) {
		t.Errorf("%+v, %v", got, err)
	}
	if st := list(t, other, c.Namespace); st.Records[0].FencingToken != l.FencingToken {
		t.Errorf("%+v", st)
	}
	if _, err := connect(t, server.DSN).Delete(ctx, alive); err != nil {
		t.Fatal(err)
	}
	if got, err := fast.Claim(ctx, late); err != nil || got.Start < l.Fence {
		t.Errorf("%+v, %v", got, err)
	}
}

// Another layout comes between the reading and the writing of a claim in a new namespace.
func TestLayoutMeanwhile(t *testing.T) {
	server := testserver.Etcd(t)
	client, other := connect(t, server.DSN), mustNew(New(connect(t, server.DSN), Config{}))
	c := claim(newNamespace())
	another := claim(c.Namespace)
	another.Layout, another.Preferred = "layout 2", 3
	client.KV = once(client, func() { held(t, other, another) })
	var layout *driver.LayoutError
	l, err := mustNew(New(client, Config{})).Claim(t.Context(), c)
	if st := list(t, other, c.Namespace); !errors.As(err, &layout) || layout.Have != another.Layout || len(st.Records) != 1 {
		t.Errorf("%+v, %v, %+v", l, err, st)
	}
}

// A record that is deleted while others are made is missing afterwards.
func TestDeletedWhileMade(t *testing.T) {
	server := testserver.Etcd(t)
	client, other := connect(t, server.DSN), mustNew(New(connect(t, server.DSN), Config{}))
	c := claim(newNamespace())
	l := held(t, other, c)
	client.KV = once(client, func() {
		if _, err := other.client.Delete(t.Context(), other.recordKey(c.Namespace, l.Worker)); err != nil {
			t.Fatal(err)
		}
	})
	next := claim(c.Namespace)
	next.WorkerIDs, next.Preferred = 64, 63
	if got := held(t, mustNew(New(client, Config{})), next); !got.FloorRaised || got.Start < l.Fence {
		t.Errorf("%+v after %+v", got, l)
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
// renewal succeeds, and the holder is present again.
func TestLifeEndsMeanwhile(t *testing.T) {
	client := connect(t, testserver.Etcd(t).DSN)
	client.Lease = ending{client.Lease}
	store, c := mustNew(New(client, Config{})), claim(newNamespace())
	l := held(t, store, c)
	renewed, err := store.Renew(t.Context(), renewal(c, l))
	must(t, err)
	found, err := client.Get(t.Context(), store.presenceKey(c.Namespace, c.ClaimID))
	if st := list(t, store, c.Namespace); err != nil || len(found.Kvs) != 1 || st.Records[0].Fence != renewed.Fence {
		t.Errorf("%+v, %v, %+v", found, err, st)
	}
}

// A lower term, another cluster, or a log that is shorter than it was tells that the cluster was made
// anew from a snapshot. What is later is noted, and the leases go on.
func TestIncarnations(t *testing.T) {
	client := connect(t, testserver.Etcd(t).DSN)
	store := mustNew(New(client, Config{}))
	first := claim(newNamespace())
	held(t, store, first)
	now, ok := parseIncarnation(list(t, store, first.Namespace).Namespace.Incarnation)
	if !ok || now.lead < 0 {
		t.Fatalf("%+v", now)
	}
	for name, c := range map[string]struct {
		recorded    string
		forgot, now bool
	}{
		"the same":           {now.String(), false, false},
		"a lower term":       {incarnation{now.cluster, now.term - 1, now.lead}.String(), false, true},
		"a much lower lead":  {incarnation{now.cluster, now.term, now.lead - 1000}.String(), false, true},
		"a higher lead":      {incarnation{now.cluster, now.term, now.lead + 60}.String(), false, false},
		"a much higher lead": {incarnation{now.cluster, now.term, now.lead + 1000}.String(), true, true},
		"a higher term":      {incarnation{now.cluster, now.term + 1, now.lead}.String(), true, true},
		"another cluster":    {incarnation{now.cluster + 1, now.term, now.lead}.String(), true, true},
		"what is no text":    {"x", true, true},
	} {
		for _, verb := range []string{"claim", "renew"} {
			c1 := claim(newNamespace())
			l := held(t, store, c1)
			st := list(t, store, c1.Namespace)
			st.Namespace.Incarnation, st.Namespace.Floor, st.Namespace.Seen = c.recorded, 0, 1
			store.replace(t, st)
			var got driver.Lease
			var err error
			if verb == "claim" {
				got, err = store.Claim(t.Context(), claim(c1.Namespace))
			} else {
				got, err = store.Renew(t.Context(), renewal(c1, l))
			}
			after := list(t, store, c1.Namespace).Namespace
			if err != nil || got.FloorRaised != c.forgot || (after.Floor > 0) != c.forgot || (after.Incarnation != c.recorded) != c.now {
				t.Errorf("%s, %s, %s: %+v, %v, %+v", verb, name, c.recorded, got, err, after)
			}
		}
	}
	if continues, _ := (incarnation{1, 2, -27}).continues(incarnation{1, 2, 3}.String()); continues {
		t.Error("a log that is shorter than the revision was not seen")
	}
}
