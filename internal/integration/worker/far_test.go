package worker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// far is the round trip to the other side of the world.
const far = 280 * time.Millisecond

// The first Open succeeds with all defaults, however far the database is. On a busy machine time
// shows nothing, so two things are: Open needs no more round trips than fit in the time of the
// defaults; and with the default Timeout, which is too short for all of them, it gets there,
// because a claim that runs out of time keeps its connection, and what it has learned about the
// database.
func TestFirstOpenFromAfar(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (*testserver.Server, engine){
		"postgres": func(t *testing.T) (*testserver.Server, engine) {
			server := testserver.NewPostgres(t)
			return server, engineOf(ddl.Postgres, "pgx", server.DSN)
		},
		"mariadb": func(t *testing.T) (*testserver.Server, engine) {
			server := testserver.NewMariaDB(t)
			return server, engineOf(ddl.MySQL, "mysql", server.DSN)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits, mostly
			server, e := start(t)
			openings(t, server.Addr, []string{"tables to be created", "tables there"}, func(addr string) func() driver.Store {
				db := open(t, e.driver, strings.Replace(testserver.Database(t, e.driver, e.dsn), server.Addr, addr, 1))
				return func() driver.Store {
					db.SetMaxIdleConns(0) // the next one has to connect again
					db.SetMaxIdleConns(2)
					return engines.MustNew(sqlstore.New(db, sqlstore.Config{}))
				}
			})
		})
	}
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		openings(t, testserver.NewRedis(t).Addr, []string{"redis"}, func(addr string) func() driver.Store {
			c := redis.NewClient(&redis.Options{Addr: addr})
			t.Cleanup(func() { _ = c.Close() })
			return func() driver.Store { return engines.MustNew(redisstore.New(evaler(c, false), redisstore.Config{})) }
		})
	})
	t.Run("etcd", func(t *testing.T) {
		t.Parallel()
		openings(t, testserver.NewEtcd(t).Addr, []string{"etcd"}, func(addr string) func() driver.Store {
			c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
			must(t, err)
			t.Cleanup(func() { _ = c.Close() })
			return func() driver.Store { return engines.MustNew(etcdstore.New(c, etcdstore.Config{})) }
		})
	})
}

// openings opens generators over each kind of store, one after the other: first near the server,
// to count round trips, and then far from it.
func openings(t *testing.T, server string, kinds []string, client func(addr string) func() driver.Store) {
	t.Helper()
	const inTime = 8 * time.Second // the defaults of ClaimWait and of Timeout, for the last attempt
	first := func(what string, store driver.Store, cfg worker.Config) {
		t.Helper()
		gen, err := worker.Open(t.Context(), store, cfg)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Cleanup(func() { _ = gen.Close(context.Background()) })
	}
	link := network.LinkTo(t, server)
	near := client(link.Addr)
	for _, what := range kinds {
		before := link.Turns()
		first(what, near(), worker.Config{Timeout: patience, ClaimWait: patience})
		n := link.Turns() - before
		t.Logf("%s: %d round trips", what, n)
		if n < 1 || time.Duration(n)*far > inTime {
			t.Errorf("%s: %d round trips of %v, which must fit in %v", what, n, far, inTime)
		}
	}
	distant := client(network.Delayed(t, server, far))
	for _, what := range kinds {
		began := time.Now()
		first(what, distant(), worker.Config{ClaimWait: patience})
		t.Logf("%s, far: %v", what, time.Since(began).Round(time.Millisecond))
	}
}
