package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// When a server is killed, ids continue for at least FenceWindow − RenewInterval, less their
// lead over the clock and the delay of the last renewal. After the fence, Next returns
// ErrFenced. When the server is back, ids continue by themselves; under a new claim, if the server
// may have forgotten the one before: its fence passed while the server was away. To log the figures, on an
// idle machine: `go test -v -count=5 -run OutageFigures`.
func TestOutageFigures(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(testing.TB) *testserver.Server
		open  func(t *testing.T, server *testserver.Server) driver.Store
		loses uint64
	}{
		{"postgres", testserver.NewPostgres, func(t *testing.T, server *testserver.Server) driver.Store {
			return engines.MustNew(sqlstore.New(open(t, "pgx", server.DSN), sqlstore.Config{}))
		}, 1},
		{"mariadb", testserver.NewMariaDB, func(t *testing.T, server *testserver.Server) driver.Store {
			return engines.MustNew(sqlstore.New(open(t, "mysql", server.DSN), sqlstore.Config{}))
		}, 1},
		{"redis", testserver.NewRedis, func(t *testing.T, server *testserver.Server) driver.Store {
			return engines.MustNew(redisstore.New(evaler(client(t, server), false), redisstore.Config{}))
		}, 1},
		{"etcd", testserver.NewEtcd, func(t *testing.T, server *testserver.Server) driver.Store {
			again := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}
			again.Backoff.MaxDelay = 3 * time.Second // as docs/workers.md says
			client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.DSN}, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithConnectParams(again)}})
			must(t, err)
			t.Cleanup(func() { _ = client.Close() })
			return engines.MustNew(etcdstore.New(client, etcdstore.Config{}))
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait, mostly
			server := c.start(t)
			outage(t, server, &lastRenewal{Store: c.open(t, server)}, c.loses)
		})
	}
}

// lastRenewal records when the store read its clock for the last acknowledged renewal. The
// fence is one window after that, however slow everything else was.
type lastRenewal struct {
	driver.Store
	mu   sync.Mutex
	last time.Time
}

func (s *lastRenewal) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	l, err := s.Store.Renew(ctx, r)
	if err == nil {
		s.mu.Lock()
		s.last = time.UnixMilli(l.Fence).Add(-outageWindow)
		s.mu.Unlock()
	}
	return l, err
}

func (s *lastRenewal) renewed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

const outageWindow = 4 * time.Second

func outage(t *testing.T, server *testserver.Server, store *lastRenewal, loses uint64) {
	const window, renew = outageWindow, time.Second
	gen, err := worker.Open(t.Context(), store, worker.Config{FenceWindow: window, RenewInterval: renew, ClaimWait: patience, MaxWait: 10 * time.Millisecond})
	must(t, err)
	defer gen.Close(context.Background())
	// draw takes ids at intervals until one is issued, or none is.
	seen := map[int64]bool{}
	var asked time.Time // for the last id that came
	draw := func(want bool) (at time.Time) {
		t.Helper()
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			began := time.Now()
			id, err := gen.Next(t.Context())
			at = time.Now()
			switch {
			case err != nil && !errors.Is(err, core.ErrFenced):
				t.Fatal(err)
			case err == nil && seen[id]:
				t.Fatalf("%d a second time", id)
			case err == nil:
				seen[id], asked = true, began
			}
			if (err == nil) == want {
				return at
			}
			if at.After(deadline) {
				t.Fatalf("after %v: %v", patience, err)
			}
		}
	}
	// The ids of a namespace that is new, or may be, begin ahead of the clock.
	await(t, "a renewal, with ids at the clock's time", func() bool { at := store.renewed(); return !at.IsZero() && !at.After(time.Now()) })
	time.Sleep(rand.N(renew)) // at any time between two of them
	draw(true)

	killed, lead, renewed := time.Now(), gen.Stats().Ahead, store.renewed()
	dead := make(chan error, 1) // that may take long, and ids continue
	go func() { dead <- server.Kill() }()
	fenced := draw(false)
	must(t, <-dead)
	until := gen.Stats().Fence
	late := max(killed.Sub(renewed)-renew, 0)
	least := window - renew - lead - late
	if rode := fenced.Sub(killed); rode < least {
		t.Errorf("ids went on for %v, and not for %v: FenceWindow − RenewInterval, ids %v ahead, the renewal %v late", rode, least, lead, late)
	}
	// When the error comes depends on the machine; that no later call returns an id does not.
	if after := asked.Sub(until); after > 200*time.Millisecond { // clocks are set, a little at a time
		t.Errorf("an id was asked for %v after the bound, and came", after)
	}
	must(t, server.Start())
	back := time.Now()
	resumed := draw(true)
	if st := gen.Stats(); st.Losses != loses || st.Forgotten != loses || st.Claims != 1+loses {
		t.Errorf("%+v", st)
	}
	t.Logf("killed %v after a renewal: ids went on for %v of at least %v; ErrFenced %v after the bound; ids again %v after the server answered, %d in all",
		killed.Sub(renewed).Round(time.Millisecond), fenced.Sub(killed).Round(time.Millisecond), least.Round(time.Millisecond),
		fenced.Sub(until).Round(time.Millisecond), resumed.Sub(back).Round(time.Millisecond), len(seen))
}
