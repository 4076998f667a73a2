package worker

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq"
	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// linked opens a store through a link to a separate server.
func linked(t *testing.T, name string) (driver.Store, *network.Link, *testserver.Server) {
	t.Helper()
	if name == "redis" {
		server := testserver.NewRedis(t)
		link := network.LinkTo(t, server.Addr)
		c := redis.NewClient(&redis.Options{Addr: link.Addr, MaxRetries: -1}) // by default it repeats each request three times
		t.Cleanup(func() {
			link.Cut() // Close would wait for a request on a silent connection
			_ = c.Close()
		})
		return engines.MustNew(redisstore.New(evaler(c, false), redisstore.Config{})), link, server
	}
	db, link, server := linkedSQL(t, name)
	return engines.MustNew(sqlstore.New(db, sqlstore.Config{})), link, server
}

func linkedSQL(t *testing.T, name string) (*sql.DB, *network.Link, *testserver.Server) {
	t.Helper()
	server := testserver.NewPostgres(t)
	link := network.LinkTo(t, server.Addr)
	return open(t, name, strings.Replace(server.DSN, server.Addr, link.Addr, 1)), link, server
}

// However many leases a process has, its store is asked a few times a second while it is away,
// and by few connections when it is back. All hold again in seconds: after a minute too, when all have
// expired, and, if the store may have forgotten them, under new claims.
func TestStorm(t *testing.T) {
	cut, silent := (*network.Link).Cut, (*network.Link).Silence
	for _, c := range []struct {
		name, away string
		leave      func(*network.Link)
		leases     int
		lasts      time.Duration
		limit      time.Duration
	}{
		{"pgx", "cut", cut, 300, 20 * time.Second, 5 * time.Second},
		{"postgres", "silent", silent, 300, 20 * time.Second, 5 * time.Second},
		{"redis", "cut", cut, 2000, 20 * time.Second, 5 * time.Second},
		{"pgx", "cut for a minute", cut, 1000, time.Minute, 10 * time.Second},
		{"pgx", "killed for a minute", nil, 1000, time.Minute, 10 * time.Second},
	} {
		t.Run(c.name+"/"+c.away, func(t *testing.T) {
			store, link, server := linked(t, c.name)
			leave, back := func() { c.leave(link) }, link.Mend
			if c.leave == nil {
				leave, back = func() { must(t, server.Kill()) }, func() { must(t, server.Start()) }
			}
			storm(t, store, link, leave, back, c.leases, c.lasts, c.limit)
		})
	}
}

func storm(t *testing.T, store driver.Store, link *network.Link, leave, back func(), n int, lasts, limit time.Duration) {
	const atOnce, watched = 16, 10 * time.Second
	leases := hold(t, store, n, atOnce, worker.Config{
		Layout: core.Layout{TimeBits: 41, WorkerBits: 11, SequenceBits: 4}, ClaimWait: patience, Timeout: time.Second,
	}, func(int, time.Duration) {})
	leave()
	time.Sleep(lasts - watched) // each lease has noticed
	before, _ := link.Connections()
	time.Sleep(watched)
	dialed, carried := link.Connections()
	rate := float64(dialed-before) / watched.Seconds()
	t.Logf("%d leases made %.1f connections a second", n, rate)
	for _, gen := range leases {
		if gen.Failing() == nil {
			t.Fatalf("a lease has not noticed: %+v", gen.Stats())
		}
	}
	back()
	returned, most := time.Now(), 0
	await(t, "lease for each", func() bool {
		_, now := link.Connections()
		most = max(most, now-carried)
		return !slices.ContainsFunc(leases, func(gen *worker.Generator) bool {
			st := gen.Stats()
			return st.State != "held" || st.Failing != nil || st.FenceLeft == 0
		})
	})
	took := time.Since(returned)
	claims := -uint64(n)
	for _, gen := range leases {
		claims += gen.Stats().Claims
		_, err := gen.Next(t.Context())
		must(t, err)
	}
	t.Logf("when the store was back, %d at a time, and all held again after %v, by %d claims", most, took.Round(time.Millisecond), claims)
	limit *= slowness
	if rate > 50 || most > 64 || took > limit {
		t.Errorf("%.1f connections a second, and then %d at a time, for %v, which must be %v", rate, most, took, limit)
	}
	giveBack(t, leases, atOnce)
}
