package worker

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq"
	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// linked opens a store through a link to a server of its own.
func linked(name string) func(t *testing.T) (driver.Store, *network.Link) {
	return func(t *testing.T) (driver.Store, *network.Link) {
		if name == "redis" {
			server := testserver.NewRedis(t)
			link := network.LinkTo(t, server.Addr)
			c := redis.NewClient(&redis.Options{Addr: link.Addr, MaxRetries: -1}) // by default it repeats each request three times
			t.Cleanup(func() {
				link.Cut() // Close would wait for a request on a silent connection
				_ = c.Close()
			})
			return mustNew(redisstore.New(evaler(c, false), redisstore.Config{AllowDataLoss: true})), link
		}
		db, link := linkedSQL(t, name)
		return mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true})), link
	}
}

func linkedSQL(t *testing.T, name string) (*sql.DB, *network.Link) {
	t.Helper()
	server := testserver.NewPostgres(t)
	link := network.LinkTo(t, server.Addr)
	return open(t, name, strings.Replace(server.DSN, server.Addr, link.Addr, 1)), link
}

// However many leases a process has, its store is asked a few times a second while it is away,
// and by few connections when it is back.
func TestStorm(t *testing.T) {
	cut, silent := (*network.Link).Cut, (*network.Link).Silence
	for _, c := range []struct {
		name, away string
		leave      func(*network.Link)
		leases     int
	}{{"pgx", "cut", cut, 300}, {"postgres", "silent", silent, 300}, {"redis", "cut", cut, 2000}} {
		t.Run(c.name+"/"+c.away, func(t *testing.T) {
			store, link := linked(c.name)(t)
			storm(t, store, link, c.leave, c.leases)
		})
	}
}

func storm(t *testing.T, store driver.Store, link *network.Link, leave func(*network.Link), n int) {
	const atOnce, watched = 16, 10 * time.Second
	leases := hold(t, store, n, atOnce, worker.Config{
		Layout: core.Layout{TimeBits: 41, WorkerBits: 11, SequenceBits: 4}, TTL: time.Hour, ClaimWait: patience, Timeout: time.Second,
	}, func(int, time.Duration) {})
	leave(link)
	time.Sleep(10 * time.Second) // each lease has noticed
	before, _ := link.Connections()
	time.Sleep(watched)
	dialed, carried := link.Connections()
	rate := float64(dialed-before) / watched.Seconds()
	t.Logf("%d leases made %.1f connections a second", n, rate)
	each := renewed(leases)
	link.Mend()
	mended, most := time.Now(), 0
	await(t, "renewal of each", func() bool {
		_, now := link.Connections()
		most = max(most, now-carried)
		return each()
	})
	t.Logf("when the store was back, %d at a time, and all were renewed after %v", most, time.Since(mended).Round(time.Millisecond))
	if rate > 50 || most > 64 {
		t.Errorf("%.1f connections a second, and then %d at a time", rate, most)
	}
	giveBack(t, leases, atOnce)
}
