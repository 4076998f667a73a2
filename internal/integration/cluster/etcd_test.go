//go:build cluster

package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

func connectEtcd(t *testing.T, members ...*testserver.Server) *clientv3.Client {
	t.Helper()
	endpoints := make([]string, len(members))
	for i, m := range members {
		endpoints[i] = m.DSN
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, Logger: zap.NewNop(),
		// A member that is silent but not gone is detected by this only. gRPC does not
		// ask more often than every ten seconds.
		DialTimeout: time.Second, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: time.Second,
	})
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// A council maps members to their IDs, so that one member can be asked about another.
type council struct {
	clients []*clientv3.Client
	number  map[uint64]int
}

func newCouncil(t *testing.T, members []*testserver.Server) *council {
	c := &council{number: map[uint64]int{}}
	for i, m := range members {
		c.clients = append(c.clients, connectEtcd(t, m))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		status, err := c.clients[i].Status(ctx, m.DSN)
		cancel()
		must(t, err)
		c.number[status.Header.MemberId] = i
	}
	return c
}

// leader returns the index of the member that leads, other than that one, as a member sees it.
func (c *council) leader(t *testing.T, asked, other int) int {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		status, err := c.clients[asked].Status(ctx, c.clients[asked].Endpoints()[0])
		cancel()
		if err != nil || status.Leader == 0 {
			continue
		}
		if n, ok := c.number[status.Leader]; ok && n != other {
			return n
		}
	}
	t.Fatal("no leader")
	return -1
}

func TestEtcd(t *testing.T) {
	members := testserver.NewEtcdCluster(t, 3)
	asked := newCouncil(t, members)
	c := newCrowd(t)
	for i := range 9 {
		store := mustNew(etcdstore.New(connectEtcd(t, members...), etcdstore.Config{}))
		c.join(fmt.Sprint("holder ", i), store, time.Duration(i%3-1)*200*time.Millisecond, i%3 > 0)
	}
	defer c.leave()
	c.phase("all is well", func() { c.progress(6) })

	for _, end := range []struct {
		name       string
		least      time.Duration
		away, back func(*testserver.Server) error
	}{
		{"paused for 6s", 6 * time.Second, (*testserver.Server).Pause, (*testserver.Server).Resume},
		{"killed, and started 5s later", 5 * time.Second, (*testserver.Server).Kill, (*testserver.Server).Start},
	} {
		lead := asked.leader(t, 0, -1)
		c.phase("the leader is "+end.name, func() {
			must(t, end.away(members[lead]))
			began := time.Now()
			asked.leader(t, (lead+1)%3, lead)
			t.Logf("another leads after %v", time.Since(began).Round(time.Millisecond))
			c.progress(1)
			t.Logf("all holders continue after %v", time.Since(began).Round(time.Millisecond))
			time.Sleep(time.Until(began.Add(end.least)))
			must(t, end.back(members[lead]))
		})
	}
	c.phase("two members are paused until ids end", func() { noQuorum(t, c, members) })
	for i, m := range members {
		c.phase(fmt.Sprintf("member %d is killed and started", i), func() {
			must(t, m.Kill())
			c.progress(1)
			must(t, m.Start())
		})
	}
}

// noQuorum pauses most of the members: ids continue, and end at the fence.
func noQuorum(t *testing.T, c *crowd, members []*testserver.Server) {
	t.Helper()
	drawn := map[*holder]int64{}
	for _, h := range c.holders {
		drawn[h] = h.drawn.Load()
	}
	must(t, members[0].Pause())
	must(t, members[1].Pause())
	began := time.Now()
	steady := func(h *holder) bool { return c.holders[0] == h || c.holders[3] == h || c.holders[6] == h }
	c.await("id without a quorum", func(h *holder) bool { return !steady(h) || h.drawn.Load() > drawn[h] })
	c.await("end of its ids", func(h *holder) bool { return !steady(h) || h.fenced.Load() > 0 })
	t.Logf("ids went on for %v", time.Since(began).Round(time.Millisecond))
	time.Sleep(2 * time.Second)
	ended := time.Now() // calls from now on get none; earlier calls may count theirs late
	time.Sleep(time.Second)
	for _, h := range c.holders {
		if late := time.Unix(0, h.asked.Load()).Sub(ended); late > 0 {
			t.Errorf("%s: ids beyond the bound, asked for %v after all had come to theirs", h.name, late)
		}
	}
	must(t, members[0].Resume())
	must(t, members[1].Resume())
	back := time.Now()
	c.progress(1)
	t.Logf("all holders continue %v after the quorum is back", time.Since(back).Round(time.Millisecond))
}
