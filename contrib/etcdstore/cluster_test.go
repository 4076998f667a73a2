package etcdstore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// Members that are behind, other clients' writes, and a leader that dies are no restore: no floor
// rises, and leases go on.
func TestClusterHasNotForgotten(t *testing.T) {
	members := testserver.NewEtcdCluster(t, 3)
	var endpoints []string
	for _, m := range members {
		endpoints = append(endpoints, m.DSN)
	}
	all := strings.Join(endpoints, ",")
	namespace := newNamespace()
	first := mustNew(New(connect(t, all), Config{}))
	held(t, first, claim(namespace))
	before := list(t, first, namespace).Namespace
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var renewals atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 3 {
		other := connect(t, all)
		wg.Go(func() { // another user of the cluster
			for n := 0; !stop.Load() && ctx.Err() == nil; n++ {
				_, _ = other.Put(ctx, fmt.Sprint("other", i), fmt.Sprint(n))
			}
		})
	}
	for range 6 {
		store := mustNew(New(connect(t, all), Config{}))
		wg.Go(func() {
			c := claim(namespace)
			c.WorkerIDs = 64
			l, err := store.Claim(ctx, c)
			if err != nil || l.FloorRaised {
				t.Errorf("%+v, %v", l, err)
			}
			for !stop.Load() && ctx.Err() == nil {
				asked, done := context.WithTimeout(ctx, 2*time.Second)
				got, err := store.Renew(asked, renewal(c, l))
				done()
				if err == nil {
					renewals.Add(1)
				}
				if got.FloorRaised {
					t.Error("a renewal has raised the floor")
				}
			}
		})
	}
	await := func() {
		for until := renewals.Load() + 300; renewals.Load() < until && ctx.Err() == nil; {
			time.Sleep(10 * time.Millisecond)
		}
	}
	await()
	if err := members[0].Kill(); err != nil {
		t.Error(err)
	}
	await()
	if err := members[0].Start(); err != nil {
		t.Error(err)
	}
	if err := members[1].Kill(); err != nil {
		t.Error(err)
	}
	await()
	stop.Store(true)
	wg.Wait()
	after := list(t, first, namespace).Namespace
	if before.Floor != after.Floor || before.Since != after.Since || ctx.Err() != nil {
		t.Errorf("%+v, then %+v, after %d renewals", before, after, renewals.Load())
	}
	t.Logf("%d renewals, %s, then %s", renewals.Load(), before.Incarnation, after.Incarnation)
}
